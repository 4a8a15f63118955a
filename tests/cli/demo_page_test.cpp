// The page of `holdfast demo oversell` on made-up recordings.
#include <string>

#include <gmock/gmock.h>

#include "cli/demo/page.hpp"
#include "cli/demo/verdict.hpp"

namespace holdfast::cli::demo {
namespace {

using testing::HasSubstr;
using testing::Not;

run recorded(experiment what, bool locked) {
    run out{.what = what, .locked = locked, .before = {0, 10, 0}, .after = {1, 9, 1}};
    action only;
    only.process = 2;
    only.thread = 3;
    only.asked = time_point{std::chrono::microseconds{1000}};
    only.granted = only.read_at = time_point{std::chrono::microseconds{12'340}};
    only.written_at = only.released = time_point{std::chrono::microseconds{23'400}};
    only.token = fencing_token{locked ? 77U : 0U};
    only.seen = what == experiment::stock ? 10 : 0;
    only.left = 9;
    only.version = 1;
    only.result = outcome::written;
    out.actions = {only};
    out.ended = only.released;
    judge(out);
    return out;
}

report everything() {
    report out{.store = "sqlite:/here", .fencing = true, .host = "host", .phone = "1", .item = "2"};
    for (const experiment what : {experiment::phones, experiment::stock}) {
        out.runs.push_back(recorded(what, false));
        out.runs.push_back(recorded(what, true));
    }
    return out;
}

TEST(demo_page, tells_who_held_the_lock_when) {
    EXPECT_THAT(page(everything()),
                HasSubstr("P2/T3 asked for the lock at 1.0 ms and held it from 12.3 ms to 23.4 ms "
                          "with token 77."));
}

TEST(demo_page, hostile_texts_stay_texts) {
    const std::string hostile = "</title></code><script>alert(1)</script>'\"><img src=x>&\x1b\xff";
    report all = everything();
    all.store = all.host = all.phone = all.item = hostile;
    for (run& each : all.runs) {
        each.actions[0].trouble = hostile;
        each.actions[0].result = outcome::failed;
        each.mistakes.push_back({0, 0, hostile});
    }
    const std::string text = page(all);
    EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(text, Not(HasSubstr("<img")));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
    EXPECT_THAT(text, HasSubstr("&lt;/title&gt;&lt;/code&gt;&lt;script&gt;alert(1)&lt;/script&gt;"
                                "&#39;&quot;&gt;&lt;img src=x&gt;&amp;\\x1b\\xff"));
}

TEST(demo_page, a_run_without_any_action_is_drawn) {
    report all = everything();
    for (run& each : all.runs) {
        each.actions.clear();
        judge(each);
    }
    EXPECT_THAT(page(all), HasSubstr("</html>"));
}

}  // namespace
}  // namespace holdfast::cli::demo
