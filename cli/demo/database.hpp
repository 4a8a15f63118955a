// The application's own database: an SQLite file that has nothing to do with the store of the
// locks. It plays the part of any database behind a shop, which is why this folder, unlike the rest
// of the program, may use SQLite.
//
// It is used as an application server uses one: each read and each write is a transaction by
// itself, and nothing but the code around them makes them belong together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/types.hpp>

#include "model.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::cli::demo {

inline constexpr std::string_view phone_number = "+1 555 0100";
inline constexpr std::string_view item_name = "item 1001";

/// What a read found, and how many writes were before it.
struct reading {
    std::int64_t value = 0;
    std::int64_t version = 0;
};

/// Throws std::runtime_error for everything that SQLite refuses. One thread at a time.
class database {
  public:
    /// Makes the file, with the full stock and no phone number.
    static void create(const std::string& path);

    explicit database(const std::string& path);
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    ~database();

    /// The rows with the phone number, or the pieces in stock.
    reading look(experiment what);
    /// Inserts a row with the phone number; the table has no key that would forbid a second one.
    /// Which write this was, from 1. Nothing if the database has already seen a newer token.
    std::optional<std::int64_t> enter_number(std::string_view by, fencing_token token);
    /// Writes what is left of the stock, and the sale. Returns as above.
    std::optional<std::int64_t> sell(std::int64_t left, std::string_view by, fencing_token token);

    contents all();

  private:
    class statement;
    struct closer {
        void operator()(sqlite3* handle) const noexcept;
    };
    std::unique_ptr<sqlite3, closer> handle_;
};

}  // namespace holdfast::cli::demo
