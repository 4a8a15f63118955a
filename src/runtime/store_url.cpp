// Takes a store's URL apart. Which characters the parts may have, percent codes, hosts and ports
// are Boost.URL's business; its parser for whole URLs knows neither a list of hosts nor where in
// the text an error is.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

// Defines the library here, so that nothing needs to be linked; seen nowhere else.
#include <boost/url/src.hpp>

#include "runtime/registry.hpp"

namespace holdfast::runtime {
namespace {

namespace urls = boost::urls;

constexpr std::size_t url_bytes_max = 4096;

/// A part of the text, and where it begins in it.
struct part {
    std::string_view text{};
    std::size_t at = 0;

    part after(std::size_t size) const { return {text.substr(size), at + size}; }
    part first(std::size_t size) const { return {text.substr(0, size), at}; }
};

/// Takes what comes before one of `ends`, and leaves the rest beginning with it.
part cut(part& from, std::string_view ends) {
    const auto size = std::min(from.text.find_first_of(ends), from.text.size());
    const part taken = from.first(size);
    from = from.after(size);
    return taken;
}

// Positions are counted from 1, as people do. What stands there is not repeated: it could be a
// password.
failure wrong(std::string what, std::size_t at) {
    return {.code = errc::invalid_argument,
            .detail = "store URL: " + std::move(what) + " at position " + std::to_string(at + 1)};
}

std::optional<failure> check_percent(const part& in, std::size_t i, std::string_view name) {
    const auto code = in.text.substr(i, 3);
    if (code.size() == 3 && urls::grammar::hexdig_value(code[1]) >= 0 &&
        urls::grammar::hexdig_value(code[2]) >= 0) {
        return {};
    }
    return wrong("'%' without two hexadecimal digits in the " + std::string(name), in.at + i);
}

// Blanks and bytes beyond ASCII are let through: people type paths, and nothing hangs on them.
result<std::string> decode(const part& from, std::string_view name) {
    std::string out;
    out.reserve(from.text.size());
    for (std::size_t i = 0; i < from.text.size(); ++i) {
        const char letter = from.text[i];
        const auto code = static_cast<unsigned char>(letter);
        if (code < 0x20 || code == 0x7f) {
            return wrong("a control character in the " + std::string(name), from.at + i);
        }
        if (letter == '#') {
            return wrong("'#' in the " + std::string(name) + "; write %23", from.at + i);
        }
        if (letter != '%') {
            out += letter;
            continue;
        }
        if (auto bad = check_percent(from, i, name)) return *std::move(bad);
        out += static_cast<char>(urls::grammar::hexdig_value(from.text[i + 1]) * 16 +
                                 urls::grammar::hexdig_value(from.text[i + 2]));
        i += 2;
    }
    return out;
}

// --- authority ---

std::optional<failure> check_user(const part& user) {
    constexpr auto allowed = urls::unreserved_chars + urls::sub_delim_chars + ':';
    for (std::size_t i = 0; i < user.text.size(); ++i) {
        if (user.text[i] == '%') {
            if (auto bad = check_percent(user, i, "user part")) return bad;
        } else if (!allowed(static_cast<unsigned char>(user.text[i]))) {
            return wrong("a character that must be written as a percent code in the user part",
                         user.at + i);
        }
    }
    return {};
}

std::optional<failure> check_host(const part& host) {
    const auto parsed = urls::parse_authority(host.text);
    // The position inside of a bracket or port is not worth its code: the host is short.
    if (!parsed) return wrong("a malformed host or port", host.at);
    if (parsed->encoded_host().empty()) return wrong("a host is missing", host.at);
    if (!parsed->has_port()) return {};
    const auto where = host.at + host.text.size() - parsed->port().size();
    if (parsed->port().empty()) return wrong("a port is missing", where);
    if (parsed->port_number() == 0) return wrong("a port that is not 1 to 65535", where);
    return {};
}

/// Where the user part ends in the authority; npos without one.
std::size_t end_of_user(std::string_view authority) {
    return authority.rfind('@');
}

std::optional<failure> check_authority(part rest) {
    if (const auto at = end_of_user(rest.text); at != std::string_view::npos) {
        if (auto bad = check_user(rest.first(at))) return bad;
        rest = rest.after(at + 1);
    }
    for (;;) {
        if (auto bad = check_host(cut(rest, ","))) return bad;
        if (rest.text.empty()) return {};
        rest = rest.after(1);
    }
}

// --- options ---

using options = std::vector<std::pair<std::string, std::string>>;

std::optional<failure> read_options(part rest, options& into) {
    while (!rest.text.empty()) {
        part item = cut(rest, "&");
        if (!rest.text.empty()) rest = rest.after(1);
        const part name = cut(item, "=");
        if (name.text.empty()) return wrong("an option without a name", name.at);
        auto key = decode(name, "option");
        if (!key) return std::move(key).error();
        auto value = decode(item.text.empty() ? item : item.after(1), "option");
        if (!value) return std::move(value).error();
        if (std::ranges::find(into, *key, &options::value_type::first) != into.end()) {
            return wrong("option '" + *key + "' given twice, the second time", name.at);
        }
        into.emplace_back(*std::move(key), *std::move(value));
    }
    return {};
}

// --- what may be shown ---

std::string without_password(std::string_view authority) {
    const auto user_end = end_of_user(authority);
    if (user_end == std::string_view::npos) return std::string(authority);
    const auto colon = authority.substr(0, user_end).find(':');
    if (colon == std::string_view::npos) return std::string(authority);
    return std::string(authority.substr(0, colon)) + ":***" +
           std::string(authority.substr(user_end));
}

bool is_secret(std::string key) {
    std::ranges::transform(key, key.begin(), urls::grammar::to_lower);
    constexpr std::array<std::string_view, 4> signs{"pass", "pwd", "secret", "token"};
    return std::ranges::any_of(
        signs, [&](std::string_view sign) { return key.find(sign) != std::string::npos; });
}

std::string encode(std::string_view text, std::string_view reserved) {
    std::string out;
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        if (code > 0x20 && code != 0x7f && reserved.find(letter) == std::string_view::npos) {
            out += letter;
            continue;
        }
        constexpr std::string_view digits = "0123456789ABCDEF";
        out += '%';
        out += digits[code >> 4U];
        out += digits[code & 15U];
    }
    return out;
}

std::string shown(const store_url& url, bool has_authority) {
    std::string text = url.scheme + ":";
    if (has_authority) text += "//" + without_password(url.authority);
    text += encode(url.path, "%?#");
    char before = '?';
    for (const auto& [key, value] : url.options) {
        text += before + encode(key, "%&=#") + '=';
        text += is_secret(key) ? "***" : encode(value, "%&#");
        before = '&';
    }
    return text;
}

// --- the whole ---

/// Where the scheme's colon is; none if the text has no scheme, and so is a path.
std::optional<std::size_t> end_of_scheme(std::string_view text) {
    constexpr auto letters = urls::grammar::alpha_chars;
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0 || !letters(text.front())) return {};
    const bool plain = std::ranges::all_of(text.substr(0, colon), [](char letter) {
        return urls::grammar::alnum_chars(letter) || letter == '+' || letter == '-' ||
               letter == '.';
    });
    return plain ? std::optional{colon} : std::nullopt;
}

result<store_url> plain_path(std::string_view text) {
    store_url url{.scheme = "sqlite", .path = std::string(text)};
    url.shown = shown(url, false);
    return url;
}

}  // namespace

result<store_url> parse_store_url(std::string_view text) {
    if (text.empty()) return wrong("nothing", 0);
    if (text.size() > url_bytes_max) {
        return wrong("more than " + std::to_string(url_bytes_max) + " bytes", url_bytes_max);
    }
    const auto colon = end_of_scheme(text);
    if (!colon) return plain_path(text);

    store_url url;
    part rest{text, 0};
    const part scheme = rest.first(*colon);
    if (const auto odd = scheme.text.find_first_of("-."); odd != std::string_view::npos) {
        return wrong(
            "a scheme has only letters, digits and '+'; before a path with a colon write "
            "./ ; found another character",
            odd);
    }
    url.scheme.resize(scheme.text.size());
    std::ranges::transform(scheme.text, url.scheme.begin(), urls::grammar::to_lower);
    rest = rest.after(*colon + 1);

    const bool has_authority = rest.text.starts_with("//");
    if (has_authority) {
        rest = rest.after(2);
        const part authority = cut(rest, "/?#");
        if (!authority.text.empty()) {
            if (auto bad = check_authority(authority)) return *std::move(bad);
        }
        url.authority = authority.text;
    }
    auto path = decode(cut(rest, "?"), "path");
    if (!path) return std::move(path).error();
    url.path = *std::move(path);
    if (!rest.text.empty()) {
        if (auto bad = read_options(rest.after(1), url.options)) return *std::move(bad);
    }
    url.shown = shown(url, has_authority);
    return url;
}

store_servers servers_of(const store_url& where) {
    store_servers all;
    part rest{where.authority, 0};
    if (const auto at = end_of_user(rest.text); at != std::string_view::npos) {
        part user = rest.first(at);
        all.user = decode(cut(user, ":"), "user part").value();
        if (!user.text.empty()) all.password = decode(user.after(1), "user part").value();
        rest = rest.after(at + 1);
    }
    while (!rest.text.empty()) {
        const auto parsed = urls::parse_authority(cut(rest, ",").text).value();
        all.hosts.push_back({parsed.host_address(), parsed.port_number()});
        if (!rest.text.empty()) rest = rest.after(1);
    }
    return all;
}

}  // namespace holdfast::runtime
