#include "stores/redis/scripts.hpp"

#include <array>

#include <openssl/evp.h>

#include "stores/redis/reply.hpp"

namespace holdfast::redis {
namespace {

// Integers stay exact in Lua up to 2^53, but tostring() would write them as 1.7e+15; and %s ends at
// a zero byte. What an owner gives is therefore only ever appended.
constexpr std::string_view common = R"lua(
local function base_of(lock)
  return string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}'
end
local function timeout_key(lock, field)
  return base_of(lock) .. ':' .. field .. ':rwlock_timeout:'
end
local function permits_key(lock) return base_of(lock) .. ':timeout' end
local function permit(raw, i) return string.sub(raw, 1, 12) .. struct.pack('>I4', i) end

local function now_us()
  local time = redis.call('time')
  return time[1] * 1000000 + time[2]
end
local function now_ms() return math.floor(now_us() / 1000) end

local function known(records, field)
  local record = redis.call('hget', records, field) or ''
  local first, count = string.match(record, '^(%d+) (%d+) ')
  return tonumber(first or 0), tonumber(count or 1)
end

-- The first of so many new tokens. A key without a ttl is a peer's, and stays so.
local function reserve(key, tokens, now)
  local kept = redis.call('pttl', key)
  local newest = kept == -2 and 0 or tonumber(redis.call('get', key))
  local first = math.max(newest + 1, now)
  local last = string.format('%.0f', first + tokens - 1)
  if kept == -1 then
    redis.call('set', key, last)
  else
    redis.call('set', key, last, 'PX', 604800000)
  end
  return first
end

local function outlast(key, ttl)
  if redis.call('pttl', key) < tonumber(ttl) then redis.call('pexpire', key, ttl) end
end

-- A record: first token, tokens, since, permits, client, owner.
local function granted(want)
  local now = now_us()
  local first = reserve(want.token, want.tokens, now)
  redis.call('hset', want.records, want.field,
    string.format('%.0f %d %.0f ', first, want.tokens, now) .. want.permits .. ' ' ..
    want.client .. ' ' .. want.owner)
  outlast(want.records, want.ttl)
  if want.waits then redis.call('hdel', want.waiters, want.field) end
  return {1, first, want.tokens, tonumber(want.ttl)}
end

-- A waiter: since, until when its word counts, how, permits, owner.
local function refused(want, remaining, field)
  if want.waits then
    local now = now_us()
    local waiting = redis.call('hget', want.waiters, want.field) or ''
    local since = string.match(waiting, '^(%d+) ') or string.format('%.0f', now)
    redis.call('hset', want.waiters, want.field,
      since .. string.format(' %.0f ', now + 6000000) .. want.how .. ' ' .. want.permits .. ' ' ..
      want.owner)
    redis.call('pexpire', want.waiters, 6000)
  end
  return {0, remaining, field, redis.call('hget', want.records, field) or ''}
end

local function writer_waits(waiters, field)
  local all = redis.call('hgetall', waiters)
  for i = 1, #all, 2 do
    local ends, how, permits = string.match(all[i + 1], '^%d+ (%d+) (%a+) (%d+) ')
    if all[i] ~= field and how ~= 'read' and permits ~= '0' and tonumber(ends) > now_us() then
      return all[i]
    end
  end
end

-- The longest that any reader still has; fields of readers whose time is over go.
local function readers(lock)
  local longest = -1
  local all = redis.call('hgetall', lock)
  for i = 1, #all, 2 do
    local field, count = all[i], tonumber(all[i + 1])
    if count and string.sub(field, -6) ~= ':write' then
      local live = -2
      for k = count, 1, -1 do
        live = math.max(live, redis.call('pttl', timeout_key(lock, field) .. k))
      end
      if live < 0 then redis.call('hdel', lock, field) end
      longest = math.max(longest, live)
    end
  end
  return longest
end
)lua";

constexpr std::string_view want = R"lua(
local want = {lock = KEYS[1], records = KEYS[2], token = KEYS[3], waiters = KEYS[4],
  field = ARGV[1], ttl = ARGV[2], tokens = tonumber(ARGV[3]), permits = ARGV[4], owner = ARGV[5],
  client = ARGV[6], how = ARGV[7], waits = ARGV[8] == '1'}
local lock, field = want.lock, want.field
)lua";

constexpr std::string_view acquire = R"lua(
if redis.call('hexists', lock, field) == 1 then
  local first, tokens = known(want.records, field)
  return {1, first, tokens, redis.call('pttl', lock)}
end
if redis.call('exists', lock) == 1 then
  local other = redis.call('hkeys', lock)
  return refused(want, redis.call('pttl', lock), other[1] == 'mode' and other[2] or other[1])
end
redis.call('hset', lock, field, 1)
redis.call('pexpire', lock, want.ttl)
return granted(want)
)lua";

constexpr std::string_view acquire_shared = R"lua(
local writes = want.how == 'write'
local mine = writes and field .. ':write' or field
local timeout = timeout_key(lock, field) .. '1'
local mode = redis.call('hget', lock, 'mode')
if mode and redis.call('hexists', lock, mine) == 1 then
  local remaining = redis.call('pttl', writes and lock or timeout)
  if remaining >= 0 then
    local first, tokens = known(want.records, field)
    return {1, first, tokens, remaining}
  end
end
if mode == 'read' and writes and readers(lock) < 0 then
  redis.call('del', lock)
  mode = false
end
if not mode and redis.call('exists', lock) == 1 then
  return refused(want, redis.call('pttl', lock), redis.call('hkeys', lock)[1])
end
if mode == 'write' or (mode and writes) then
  for _, other in ipairs(redis.call('hkeys', lock)) do
    if other ~= 'mode' then return refused(want, redis.call('pttl', lock), other) end
  end
end
if not writes and ARGV[9] ~= '1' then
  local writer = writer_waits(want.waiters, field)
  if writer then return refused(want, redis.call('pttl', lock), writer) end
end
if not mode then redis.call('hset', lock, 'mode', want.how) end
redis.call('hset', lock, mine, 1)
if not writes then redis.call('set', timeout, 1, 'PX', want.ttl) end
outlast(lock, want.ttl)
return granted(want)
)lua";

// Those that are over, first.
constexpr std::string_view permits_used = R"lua(
local function permits_used(lock, channel)
  local timeouts = permits_key(lock)
  local over = redis.call('zrangebyscore', timeouts, '-inf', now_ms())
  for _, one in ipairs(over) do redis.call('zrem', timeouts, one) end
  if #over > 0 then redis.call('publish', channel, redis.call('incrby', lock, #over)) end
  return redis.call('zcard', timeouts)
end
local function refused_permits(want)
  local now = now_ms()
  local first = redis.call('zrange', permits_key(want.lock), 0, 0, 'withscores')
  local holder = redis.call('hkeys', want.records)[1] or ''
  return refused(want, math.max(tonumber(first[2] or now) - now, 0), holder)
end
)lua";

constexpr std::string_view acquire_permits = R"lua(
local raw, capacity, permits = ARGV[9], tonumber(ARGV[10]), tonumber(want.permits)
local used = permits_used(lock, KEYS[5])
local timeouts, now = permits_key(lock), now_ms()
local mine = redis.call('zscore', timeouts, permit(raw, 0))
if mine then
  local first, tokens = known(want.records, field)
  return {1, first, tokens, mine - now}
end
local free = tonumber(redis.call('get', lock))
if not free or (used == 0 and free ~= capacity) then
  free = capacity
  redis.call('set', lock, capacity)
elseif free + used ~= capacity then
  return {2, free + used, '', ''}
end
if free < permits then return refused_permits(want) end
redis.call('decrby', lock, permits)
for i = 0, permits - 1 do redis.call('zadd', timeouts, now + want.ttl, permit(raw, i)) end
return granted(want)
)lua";

constexpr std::string_view probe = R"lua(
local of = redis.call('type', lock).ok
if of == 'string' and permits_used(lock, KEYS[5]) > 0 then return refused_permits(want) end
if of == 'hash' and (redis.call('hget', lock, 'mode') ~= 'read' or readers(lock) >= 0) then
  local other = redis.call('hkeys', lock)
  return refused(want, redis.call('pttl', lock), other[1] == 'mode' and other[2] or other[1])
end
if want.waits then redis.call('hdel', want.waiters, field) end
return {1, 0, 0, 0}
)lua";

constexpr std::string_view release = R"lua(
local lock, records, waiters, field, raw = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
-- Somebody may wait for the name as another kind.
local function tell(channel, what)
  redis.call('publish', channel, what)
  if redis.call('exists', waiters) == 0 then return end
  if channel ~= KEYS[4] then redis.call('publish', KEYS[4], '0') end
  if channel ~= KEYS[5] then redis.call('publish', KEYS[5], '1') end
end
local held = redis.pcall('hmget', lock, field, field .. ':write', 'mode')
if held.err then
  local timeouts, gone = permits_key(lock), 0
  local score = redis.call('zscore', timeouts, permit(raw, 0))
  while redis.call('zrem', timeouts, permit(raw, gone)) == 1 do gone = gone + 1 end
  redis.call('hdel', records, field)
  redis.call('hdel', waiters, field)
  if gone == 0 then return 0 end
  tell(KEYS[6], redis.call('incrby', lock, gone))
  return tonumber(score) > now_ms() and 1 or 0
end
if held[1] and not held[3] then
  redis.call('del', lock, records)
  tell(KEYS[4], '0')
  return 1
end
if held[2] then
  redis.call('hdel', lock, field .. ':write')
  redis.call('hdel', records, field)
  if redis.call('hlen', lock) == 1 then
    redis.call('del', lock, records)
  else
    redis.call('hset', lock, 'mode', 'read')
  end
  tell(KEYS[5], '1')
  -- Redisson forgets the 1 for a thread that is about to sleep; a 0 it keeps.
  redis.call('publish', KEYS[5], '0')
  return 1
end
if held[1] then
  local live = redis.call('del', timeout_key(lock, field) .. '1')
  redis.call('hdel', lock, field)
  redis.call('hdel', records, field)
  local longest = readers(lock)
  if held[3] == 'read' and longest < 0 then
    redis.call('del', lock, records)
    tell(KEYS[5], '0')
  elseif held[3] == 'read' then
    redis.call('pexpire', lock, longest)
  end
  return live
end
-- It only waited. Others may have waited behind it.
if redis.call('hdel', waiters, field) == 1 then redis.call('publish', KEYS[5], '1') end
return 0
)lua";

// Which hold of which kind a field is: 0 of a mutex, 1 a writer's, 2 a reader's, 3 permits; and the
// key whose ttl is the hold's.
constexpr std::string_view find_hold = R"lua(
local function find(lock, field, raw)
  local held = redis.pcall('hmget', lock, field, field .. ':write', 'mode')
  if held.err then
    local score = redis.call('zscore', permits_key(lock), permit(raw, 0))
    local remaining = score and score - now_ms() or -1
    return remaining > 0 and 3 or nil, remaining
  end
  if held[1] and not held[3] then return 0, redis.call('pttl', lock) end
  if held[2] then return 1, redis.call('pttl', lock) end
  if not held[1] then return nil end
  local remaining = redis.call('pttl', timeout_key(lock, field) .. '1')
  return remaining >= 0 and 2 or nil, remaining
end
)lua";

// An error in one line leaves the others alone.
constexpr std::string_view renew = R"lua(
local function prolong(what, lock, field, raw, ttl, permits)
  if what == 3 then
    for i = 0, permits - 1 do
      redis.call('zadd', permits_key(lock), 'XX', now_ms() + ttl, permit(raw, i))
    end
    return
  end
  if what == 2 then redis.call('pexpire', timeout_key(lock, field) .. '1', ttl) end
  outlast(lock, ttl)
end
-- Somebody else has a mutex or writes; what is shared has just gone.
local function gone(lock)
  local mode = redis.pcall('hget', lock, 'mode')
  if type(mode) == 'table' or mode == 'read' then return -1 end
  return redis.call('exists', lock) == 1 and -2 or -1
end
local function line(lock, records, field, raw, ttl, token, bind)
  local what, remaining = find(lock, field, raw)
  if not what then return gone(lock) end
  local record = redis.call('hget', records, field) or ''
  local first, count, since, permits, client, owner =
    string.match(record, '^(%d+) (%d+) (%d+) (%d+) (%S+) (.*)$')
  if token ~= '0' then
    local above = first and tonumber(token) - tonumber(first) or -1
    if above < 0 or above >= tonumber(count) then return -2 end
  end
  if bind == 'attach' and client ~= '-' and client ~= ARGV[1] then return -2 end
  if first and bind ~= 'keep' then
    client = bind == 'attach' and ARGV[1] or '-'
    redis.call('hset', records, field, first .. ' ' .. count .. ' ' .. since .. ' ' .. permits ..
      ' ' .. client .. ' ' .. owner)
  end
  if remaining < tonumber(ttl) then
    prolong(what, lock, field, raw, ttl, tonumber(permits or 1))
    outlast(records, ttl)
    remaining = tonumber(ttl)
  end
  return what == 0 and remaining or {remaining, what, tonumber(permits or 1)}
end
local replies = {}
for i = 1, #KEYS / 2 do
  local a = 5 * i - 3
  replies[i] = line(KEYS[2 * i - 1], KEYS[2 * i], ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3],
    ARGV[a + 4])
end
return replies
)lua";

constexpr std::string_view downgrade = R"lua(
local lock, records, waiters, field, ttl = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local held = redis.pcall('hmget', lock, field, field .. ':write', 'mode')
if held.err or (not held[1] and not held[2]) or not held[3] then
  return redis.call('exists', lock) == 1 and -2 or -1
end
local timeout = timeout_key(lock, field) .. '1'
local remaining = math.max(redis.call('pttl', held[2] and lock or timeout), tonumber(ttl))
if held[2] then
  redis.call('hdel', lock, field .. ':write')
  redis.call('hset', lock, 'mode', 'read', field, 1)
elseif redis.call('exists', timeout) == 0 then
  return -1
end
redis.call('set', timeout, 1, 'PX', remaining)
outlast(lock, remaining)
outlast(records, remaining)
redis.call('publish', KEYS[4], '1')
redis.call('publish', KEYS[4], '0')
return {remaining, 2, 1}
)lua";

constexpr std::string_view evict = R"lua(
local lock, records, wanted = KEYS[1], KEYS[2], tonumber(ARGV[1])
local all = redis.call('hgetall', records)
for i = 1, #all, 2 do
  local first, count, permits = string.match(all[i + 1], '^(%d+) (%d+) %d+ (%d+) ')
  if first and wanted >= tonumber(first) and wanted < tonumber(first) + tonumber(count) then
    redis.call('incr', KEYS[3])
    return {all[i], all[i + 1], redis.call('pttl', lock)}
  end
end
return false
)lua";

constexpr std::string_view show = R"lua(
local lock, records, waiters = KEYS[1], KEYS[2], KEYS[4]
local of = redis.call('type', lock).ok
local shown = {now_us(), tonumber(redis.call('get', KEYS[3]) or 0), 0, 0}
local holders, waiting = {}, {}
local function add(field, raw)
  local what, remaining = find(lock, field, raw)
  if not what then return end
  shown[3] = what
  holders[#holders + 1] = field
  holders[#holders + 1] = redis.call('hget', records, field) or ''
  holders[#holders + 1] = remaining
  holders[#holders + 1] = what
end
if of == 'hash' then
  for _, field in ipairs(redis.call('hkeys', lock)) do
    if field ~= 'mode' then add((string.gsub(field, ':write$', '')), '') end
  end
elseif of == 'string' then
  local timeouts = permits_key(lock)
  if redis.call('exists', timeouts) == 1 then
    shown[4] = tonumber(redis.call('get', lock)) + redis.call('zcard', timeouts)
  end
  for _, field in ipairs(redis.call('hkeys', records)) do
    local hex = string.gsub(string.sub(field, 1, 36), '-', '')
    add(field, (string.gsub(hex, '..', function(two) return string.char(tonumber(two, 16)) end)))
  end
end
local all = redis.call('hgetall', waiters)
for i = 1, #all, 2 do
  local ends = string.match(all[i + 1], '^%d+ (%d+) ')
  if tonumber(ends) > shown[1] then
    waiting[#waiting + 1] = all[i]
    waiting[#waiting + 1] = all[i + 1]
  end
end
shown[5], shown[6] = holders, waiting
return shown
)lua";

std::string joined(std::initializer_list<std::string_view> parts) {
    std::string all;
    for (const auto& part : parts) all += part;
    return all;
}

struct loaded {
    std::string text;
    std::string digest;
};

std::string sha1(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), bytes.data(), &size, EVP_sha1(), nullptr);
    std::string hex;
    for (unsigned i = 0; i < size; ++i) {
        hex += digits[bytes[i] >> 4U];
        hex += digits[bytes[i] & 15U];
    }
    return hex;
}

// Never destroyed: a client may outlive main().
const loaded& the(script which) {
    static const auto& all = *[] {
        auto* made = new std::array<loaded, static_cast<std::size_t>(script::count)>{{
            {joined({common, want, acquire}), {}},
            {joined({common, want, acquire_shared}), {}},
            {joined({common, permits_used, want, acquire_permits}), {}},
            {joined({common, permits_used, want, probe}), {}},
            {joined({common, release}), {}},
            {joined({common, find_hold, renew}), {}},
            {joined({common, downgrade}), {}},
            {joined({evict}), {}},
            {joined({common, find_hold, show}), {}},
        }};
        for (auto& one : *made) one.digest = sha1(one.text);
        return made;
    }();
    return all[static_cast<std::size_t>(which)];
}

}  // namespace

std::string_view text_of(script which) {
    return the(which).text;
}

const std::string& digest_of(script which) {
    return the(which).digest;
}

std::string command_of(script which, std::span<const std::string_view> keys,
                       std::span<const std::string_view> arguments) {
    command words{3 + keys.size() + arguments.size()};
    words.add("EVALSHA").add(digest_of(which)).add(static_cast<std::int64_t>(keys.size()));
    for (const auto& key : keys) words.add(key);
    for (const auto& argument : arguments) words.add(argument);
    return words.take();
}

}  // namespace holdfast::redis
