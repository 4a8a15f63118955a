// The Redis protocol (RESP2, https://redis.io/docs/latest/develop/reference/protocol-spec/): what
// is sent, and what comes back. The reading is hiredis's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

struct redisReader;

namespace holdfast::redis {

struct reply {
    enum class type : std::uint8_t { nil, number, text, error, array };
    type what = type::nil;
    std::int64_t number = 0;
    std::string text{};  ///< also of an error
    std::vector<reply> elements{};

    bool is(type one) const noexcept { return what == one; }
};

/// Takes bytes as they arrive, gives whole replies.
class reply_reader {
  public:
    reply_reader();
    /// False: these are not the bytes of a Redis server. Nothing more will come out.
    bool feed(std::string_view bytes) noexcept;
    /// The next whole reply; none if more bytes are needed, or after damage.
    std::optional<reply> next();
    bool damaged() const noexcept { return damaged_; }

  private:
    struct closer {
        void operator()(redisReader* it) const noexcept;
    };
    std::unique_ptr<redisReader, closer> reader_;
    bool damaged_ = false;
};

/// The words of a command, put together for sending.
class command {
  public:
    explicit command(std::size_t words);
    command& add(std::string_view word);
    command& add(std::int64_t word);
    const std::string& bytes() const noexcept { return bytes_; }
    std::string take() noexcept { return std::move(bytes_); }

  private:
    std::string bytes_;
};

std::string command_of(std::initializer_list<std::string_view> words);

/// What an error reply means for the caller: the first word tells its kind.
failure failure_of(const reply& error);

}  // namespace holdfast::redis
