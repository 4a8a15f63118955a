// holdfast show: everything about one lock.
#include <unistd.h>

#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.hpp"
#include "duration.hpp"
#include "json.hpp"
#include "output.hpp"
#include "text.hpp"

namespace holdfast::cli {
namespace {

std::string describe(const holder_record& holder, kind what) {
    std::string out = fmt::format("held by {} for {}, token {}", shown(holder.owner),
                                  format_duration(holder.held_for), holder.token.value());
    if (holder.token_last > holder.token) out += fmt::format(" to {}", holder.token_last.value());
    if (holder.how == access::shared) out += ", shared";
    if (what == kind::semaphore) out += fmt::format(", {} permits", holder.permits);
    out += fmt::format("; ends in {} unless renewed", format_duration(holder.remaining));
    if (holder.bound) out += ", or with its process";
    return out;
}

std::string describe(const waiter_record& waiter, kind what) {
    std::string out =
        fmt::format("{} since {}", shown(waiter.owner), format_duration(waiter.waiting_for));
    if (waiter.how == access::shared) out += ", shared";
    if (what == kind::semaphore) out += fmt::format(", {} permits", waiter.permits);
    return out;
}

std::string describe(const lock_record& lock) {
    const painter paint{STDOUT_FILENO};
    std::string out =
        fmt::format("{} ({}", paint(colour::bold, shown(lock.name)), to_string(lock.what));
    if (lock.what == kind::semaphore) out += fmt::format(" of {}", lock.capacity);
    out += lock.token.value() == 0 ? ", never held)\n"
                                   : fmt::format(", newest token {})\n", lock.token.value());
    if (lock.holders.empty()) out += fmt::format("  {}\n", paint(colour::green, "free"));
    for (const holder_record& each : lock.holders) {
        out += fmt::format("  {}\n", describe(each, lock.what));
    }
    std::size_t place = 0;
    for (const waiter_record& each : lock.waiters) {
        out += fmt::format("  waiter {}: {}\n", ++place, describe(each, lock.what));
    }
    return out;
}

ending show(const program& with, const std::string& name) {
    result<client> from = try_open(with);
    if (!from) return fail(with, from.error());
    const result<lock_record> lock = from->show(name);
    if (!lock) return fail(with, lock.error(), name);
    if (with.json) {
        print_json(STDOUT_FILENO, to_json(*lock));
    } else {
        print(describe(*lock));
    }
    return {};
}

}  // namespace

void add_show(CLI::App& app, program& with) {
    auto name = std::make_shared<name_option>();
    add_name(app, *name);
    add_common(app, with);
    with.action = [&with, name] { return show(with, name->bytes()); };
}

}  // namespace holdfast::cli
