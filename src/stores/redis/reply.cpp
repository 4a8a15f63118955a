#include "stores/redis/reply.hpp"

#include <algorithm>
#include <array>
#include <new>

#include <hiredis/hiredis.h>

namespace holdfast::redis {
namespace {

reply convert(const redisReply& from) {
    switch (from.type) {
        case REDIS_REPLY_INTEGER:
            return {.what = reply::type::number, .number = from.integer};
        case REDIS_REPLY_STRING:
        case REDIS_REPLY_STATUS:
            return {.what = reply::type::text, .text = std::string(from.str, from.len)};
        case REDIS_REPLY_ERROR:
            return {.what = reply::type::error, .text = std::string(from.str, from.len)};
        case REDIS_REPLY_ARRAY: {
            reply all{.what = reply::type::array};
            all.elements.reserve(from.elements);
            for (std::size_t i = 0; i < from.elements; ++i) {
                all.elements.push_back(convert(*from.element[i]));
            }
            return all;
        }
        default:
            return {};
    }
}

struct meaning {
    std::string_view word;
    errc code;
};

// None of these had an effect: they are decided before a command or a script changes anything.
constexpr auto meanings = std::to_array<meaning>({
    {"BUSY", errc::unavailable},
    {"BUSYKEY", errc::bad_reply},
    {"CLUSTERDOWN", errc::unavailable},
    {"DENIED", errc::access_denied},
    {"LOADING", errc::unavailable},
    {"MASTERDOWN", errc::unavailable},
    {"MISCONF", errc::unavailable},
    {"NOAUTH", errc::access_denied},
    {"NOPERM", errc::access_denied},
    {"NOREPLICAS", errc::unavailable},
    {"NOSCRIPT", errc::unavailable},
    {"OOM", errc::unavailable},
    {"READONLY", errc::unavailable},
    {"TRYAGAIN", errc::unavailable},
    {"WRONGPASS", errc::access_denied},
    {"WRONGTYPE", errc::mismatch},
});

}  // namespace

void reply_reader::closer::operator()(redisReader* it) const noexcept {
    redisReaderFree(it);
}

reply_reader::reply_reader() : reader_(redisReaderCreate()) {
    if (!reader_) throw std::bad_alloc();
}

bool reply_reader::feed(std::string_view bytes) noexcept {
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) damaged_ = true;
    return !damaged_;
}

std::optional<reply> reply_reader::next() {
    void* raw = nullptr;
    if (redisReaderGetReply(reader_.get(), &raw) != REDIS_OK) damaged_ = true;
    if (raw == nullptr) return {};
    const std::unique_ptr<void, void (*)(void*)> owned{raw, &freeReplyObject};
    return convert(*static_cast<const redisReply*>(raw));
}

command::command(std::size_t words) {
    bytes_.reserve(64 + 32 * words);
    bytes_.append("*").append(std::to_string(words)).append("\r\n");
}

command& command::add(std::string_view word) {
    bytes_.append("$").append(std::to_string(word.size())).append("\r\n");
    bytes_.append(word).append("\r\n");
    return *this;
}

command& command::add(std::int64_t word) {
    return add(std::string_view(std::to_string(word)));
}

std::string command_of(std::initializer_list<std::string_view> words) {
    command all{words.size()};
    for (const auto& word : words) all.add(word);
    return all.take();
}

failure failure_of(const reply& error) {
    const auto word = std::string_view(error.text).substr(0, error.text.find(' '));
    const auto known = std::ranges::find(meanings, word, &meaning::word);
    // An error inside a script is reported as "ERR ... script: ..., on @user_script:3." or, since
    // Redis 7, with the word of the command that failed.
    const auto wrong_type = error.text.find("WRONGTYPE") != std::string::npos;
    const auto code = known != meanings.end() ? known->code
                      : wrong_type            ? errc::mismatch
                                              : errc::bad_reply;
    return {.code = code, .detail = "Redis: " + error.text};
}

}  // namespace holdfast::redis
