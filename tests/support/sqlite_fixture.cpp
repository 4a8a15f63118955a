// The SQLite store on a file of its own, by the machine's clock.
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <sqlite3.h>

#include "support/driven_store.hpp"
#include "support/fixture.hpp"
#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

class sqlite_fixture final : public fixture {
  public:
    sqlite_fixture() {
        std::string pattern = std::filesystem::temp_directory_path() / "holdfast-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
        directory_ = pattern;
    }
    ~sqlite_fixture() override {
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }

    std::unique_ptr<store> make() override {
        return std::make_unique<driven_store>("sqlite:" + file());
    }
    client connect(client_options options) override {
        return client::open("sqlite:" + file(), std::move(options));
    }

    // With SQLite alone. What is bound to a dead process counts as held here.
    bool really_held(const std::string& name) override {
        sqlite3* db = nullptr;
        sqlite3_stmt* ask = nullptr;
        if (sqlite3_open_v2(file().c_str(), &db, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) {
            throw std::runtime_error("cannot look into the database");
        }
        sqlite3_busy_timeout(db, 5000);
        sqlite3_prepare_v2(db,
                           "SELECT (claim IS NOT NULL AND expires > ?2) OR EXISTS (SELECT 1 FROM "
                           "hold WHERE lock = id AND expires > ?2) FROM lock WHERE name = ?1",
                           -1, &ask, nullptr);
        sqlite3_bind_blob(ask, 1, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
        sqlite3_bind_int64(ask, 2, boot_clock::now().time_since_epoch().count());
        const bool held = sqlite3_step(ask) == SQLITE_ROW && sqlite3_column_int(ask, 0) != 0;
        sqlite3_finalize(ask);
        sqlite3_close(db);
        return held;
    }

    duration ttl() const override { return 300ms; }
    void pass(duration how_long) override { wait_for_clock(how_long); }
    bool until(const std::function<bool()>& it_is_so, duration limit) override {
        return eventually(it_is_so, limit + 2s);  // the machine may be busy
    }
    bool restart() override { return true; }

  private:
    std::string file() const { return directory_ + "/locks.db"; }
    std::string directory_;
};

}  // namespace

std::unique_ptr<fixture> make_sqlite_fixture() {
    return std::make_unique<sqlite_fixture>();
}

}  // namespace holdfast::tests
