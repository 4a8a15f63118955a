#include "runtime/names.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "runtime/quiet_thread.hpp"
#include "support/guarded.hpp"

namespace holdfast::runtime {
namespace {

name_answer ask(const std::string& host, const std::string& port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
    if (error == EAI_SYSTEM) return {{}, std::system_category().message(errno)};
    if (error != 0) return {{}, ::gai_strerror(error)};
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned{list, &::freeaddrinfo};
    name_answer answer;
    for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
        answer.found.emplace_back(each->ai_addr, each->ai_addrlen);
    }
    return answer;
}

}  // namespace

struct names::table {
    using name = std::pair<std::string, std::uint16_t>;
    using taker = std::function<void(const name_answer&)>;

    void answer(const name& which) {
        name_answer given;
        try {
            given = ask(which.first, std::to_string(which.second));
        } catch (const std::exception& no_memory) {
            given = {{}, "out of memory"};
        }
        for (const auto& each : end(which)) support::run_guarded([&] { each(given); });
    }

    std::vector<taker> end(const name& which) {
        std::lock_guard guard{mutex};
        return std::move(asked.extract(which).mapped());
    }

    std::mutex mutex;
    std::map<name, std::vector<taker>> asked;
};

names::names(boost::asio::execution_context& of) : service(of), table_(std::make_shared<table>()) {
}

void names::look_up(const tcp_address& which, table::taker taker) {
    const table::name name{which.host, which.port};
    std::lock_guard guard{table_->mutex};
    const auto [place, is_new] = table_->asked.try_emplace(name);
    try {
        place->second.push_back(std::move(taker));
        if (!is_new) return;
        start_quiet_thread("holdfast-names", [kept = table_, name] {
            kept->answer(name);
        }).detach();
    } catch (...) {
        if (is_new) table_->asked.erase(place);
        throw;
    }
}

}  // namespace holdfast::runtime
