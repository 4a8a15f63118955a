// One thread of a program that uses locks: acquires, works, writes, and lets go, in every way there
// is, and checks what it is told.
#pragma once

#include <memory>
#include <optional>

#include "simulation/world.hpp"

namespace holdfast::simulation {

class actor {
  public:
    actor(world& in, node& at, unsigned index);

    void start();
    node& where() const noexcept { return node_; }
    /// No new work, and what is held is given back.
    void let_go();
    /// Now that nothing is wrong, a lock that has been free for long would have been had.
    void must_not_sleep();
    /// The client is closed: everything has been answered.
    void must_have_ended();

  private:
    /// One acquisition, as its caller sees it.
    struct attempt {
        core::request asked;
        unsigned subject = 0;
        core::op_id id = 0;
        time_point started{};  // by the client's clock
        bool adopts = false;
        bool cancelled = false;
        unsigned ends = 0;
    };
    using attempt_ptr = std::shared_ptr<attempt>;

    void later(duration after, void (actor::*what)());
    void idle();
    void begin();
    void adopt();
    attempt_ptr make_attempt();
    void choose_wait(core::request& asked);
    void launch(const attempt_ptr& one, bool nested);
    void ended(const attempt_ptr& one, result<core::hold_ptr> how, bool nested);
    void judge(const attempt& one, const failure& why);
    void expect_end(const attempt_ptr& one, duration bound);
    void cancel_later(const attempt_ptr& one);

    void held(const core::hold_ptr& hold, const attempt& one);
    void step();
    void act();
    void write();
    void finish_write();
    void renew();
    void nest();
    void downgrade();
    void end_hold();
    void release();
    void orphan();
    void released(const core::hold_ptr& hold, const result<void>& how, time_point since,
                  bool was_held);
    void count_answer(const std::shared_ptr<unsigned>& answers, const char* verb);
    bool still(const core::hold_ptr& hold) const;

    world& world_;
    node& node_;
    unsigned index_;
    bool over_ = false;
    attempt_ptr current_;
    core::hold_ptr hold_;
    unsigned subject_ = 0;
    unsigned leases_ = 0;  // on hold_
    bool weak_ = false;    // a downgrade was asked for
    bool writing_ = false;
    bool letting_go_ = false;  // an orphaning is under way
    std::uint64_t seen_fenced_ = 0;
    std::uint64_t seen_unfenced_ = 0;
    time_point hold_until_{};
};

}  // namespace holdfast::simulation
