// holdfast wait: until nobody holds a lock, without taking it.
#include <unistd.h>

#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "json.hpp"
#include "signals.hpp"
#include "text.hpp"
#include "waiting.hpp"

namespace holdfast::cli {
namespace {

struct wait_options {
    name_option name;
    std::optional<std::string> wait;
    bool no_wait = false;
    bool quiet = false;
};

duration read_limit(const wait_options& options) {
    if (options.no_wait && options.wait) {
        throw usage_error("-n (no wait) and --wait exclude each other");
    }
    if (options.no_wait) return duration::zero();
    return options.wait ? read_duration("--wait", *options.wait) : forever;
}

ending wait(const program& with, const wait_options& options) {
    const std::string name = options.name.bytes();
    const duration limit = read_limit(options);
    const std::string url = store_url(with);
    signal_inbox signals;
    using mode = waiting_view::mode;
    const bool live = ::isatty(STDERR_FILENO) == 1 && !options.quiet;
    waiting_view view{{name}, live ? mode::live : mode::off};
    std::optional<failure> failed;
    const int signal = run_interruptibly(signals, view, [&](const std::stop_token& stop) {
        result<client> from = client::try_open(url);
        if (!from) {
            failed = from.error();
            return;
        }
        view.ask(*from);
        acquire_options how;
        how.wait = limit;
        how.stop = stop;
        const result<void> freed = from->try_wait_free(name, how);
        if (!freed) failed = freed.error();
    });
    if (signal != 0) return {128 + signal, signal};
    if (failed) return fail(with, *failed, name);
    if (with.json) {
        boost::json::object out;
        put_name(out, name);
        out["held"] = false;
        print_json(STDOUT_FILENO, out);
    }
    return {};
}

}  // namespace

void add_wait(CLI::App& app, program& with) {
    auto options = std::make_shared<wait_options>();
    add_name(app, options->name);
    app.add_option("-w,--wait,--timeout", options->wait, "Wait at most so long (default: for ever)")
        ->type_name("DURATION");
    app.add_flag("-n,--no-wait,--nonblock,--nb", options->no_wait, "Only look");
    app.add_flag("-q,--quiet", options->quiet, "No view of waiting on a terminal");
    add_common(app, with);
    with.action = [&with, options] { return wait(with, *options); };
}

}  // namespace holdfast::cli
