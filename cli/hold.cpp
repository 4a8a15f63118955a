#include "hold.hpp"

#include <algorithm>

namespace holdfast::cli {

std::vector<const lease*> hold::all() const {
    std::vector<const lease*> out;
    if (const auto* one = std::get_if<lease>(&leases_)) {
        out.push_back(one);
    } else {
        for (const lease& each : std::get<multi_lease>(leases_).leases()) out.push_back(&each);
    }
    return out;
}

bool hold::held() const {
    return std::visit([](const auto& leases) { return leases.held(); }, leases_);
}

time_point hold::expires_at() const {
    return std::visit([](const auto& leases) { return leases.expires_at(); }, leases_);
}

loss_reason hold::loss() const {
    for (const lease* each : all()) {
        if (each->loss() != loss_reason::none) return each->loss();
    }
    return loss_reason::none;
}

void hold::watch(const std::function<void()>& tell) {
    for (const lease* each : all()) {
        watchers_.push_back(std::make_unique<watcher>(each->at_risk(), tell));
        watchers_.push_back(std::make_unique<watcher>(each->lost(), tell));
    }
}

result<void> hold::release() {
    watchers_.clear();
    return std::visit([](auto& leases) { return leases.try_release(); }, leases_);
}

std::vector<hold::named_token> hold::tokens() const {
    std::vector<named_token> out;
    for (const lease* each : all()) out.push_back({each->name(), each->token()});
    return out;
}

}  // namespace holdfast::cli
