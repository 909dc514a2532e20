/** For tests: SQL that fills the tables. */
import { KeyId, Pid } from "@accountlink/core";
import { dayMs } from "@accountlink/core/timestamp";
import type { WebhookId } from "@accountlink/core/webhooks";

/** The number of the scope that the operations use. */
export const number = 40;
export const pid = Pid.make(`pid_${`${number}`.padStart(16, "0")}`);
/** A scope with few links. */
export const smallPid = Pid.make("pid_0000000000001000");
export const account = `account ${number}`;
export const keyId = KeyId.make(`${number}5`.padStart(12, "0"));
export const windowsEnd = 2_000_000;
/** A webhook whose receiver is down, so that its latest events wait. */
export const waiting = `wh_${`${number + 1}`.padStart(20, "0")}` as WebhookId;

/** SQL that adds sightings of users who share no address or browser, in the scope that the operations use. */
export const sightingsOfStrangers = `
  INSERT INTO sightings (pid, chat_id, place_hash, seen_at)
    SELECT '${pid}', (5000000 + i)::text, 'place ' || i, i FROM generate_series(1, 40000) AS i
  ON CONFLICT DO NOTHING`;

/**
 * SQL that adds accounts, each with one scope of 1,000 links, and many rows of every other kind. Skips foreign key
 * checks and triggers, which would take most of the time.
 */
export const fill = (accounts: number) => `
  SET session_replication_role = replica;
  -- Postgres scans a table of a few pages whatever its indexes are.
  INSERT INTO accounts (name, chat_id, tier) SELECT 'account ' || i, (1000000 + i)::text, 'free'
    FROM generate_series(1, ${Math.max(accounts, 1_000)}) AS i;
  INSERT INTO suspended_owners (hash) SELECT md5(i::text) FROM generate_series(1, 10000) AS i;
  INSERT INTO scopes (pid, account) SELECT 'pid_' || lpad(substr(chat_id, 2), 16, '0'), name FROM accounts;
  INSERT INTO keys (id, pid, name, tier, kind, status, limits, allow_ips, deny_ips, redirect_origins, created_at)
    SELECT lpad(i::text, 12, '0'), 'pid_' || lpad((i / 10)::text, 16, '0'),
      '', 'free', 'normal', 'active', '{}', '[]', '[]', '[]', i
    FROM generate_series(1, ${accounts * 10}) AS i;
  INSERT INTO key_secrets (hash, key_id) SELECT 'hash ' || id, id FROM keys;
  INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), (1000000 + i)::text, (i * 3 / 10)::text, 1, i, i
    FROM generate_series(1, ${accounts * 1_000}) AS i;
  INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
    SELECT '${smallPid}', i::text, '1', 1, i, i FROM generate_series(1, 20) AS i;
  INSERT INTO journal (place, position, at, action, actor_type, actor_id, details)
    SELECT 'account account ' || i / 100, 0, i, 'link.set', 'operator', '', '{}'
    FROM generate_series(1, ${accounts * 100}) AS i;
  -- One account has a long log, in which few entries are about a key.
  INSERT INTO journal (place, position, at, action, actor_type, actor_id, details)
    SELECT '${pid}', 0, i, 'key.rotated', 'operator', '', '{"keyId":"${keyId}","status":"active"}'
    FROM generate_series(1, 5) AS i;
  INSERT INTO journal (place, position, at, action, actor_type, actor_id, details)
    SELECT '${pid}', 0, i, 'link.set', 'key', 'another key', '{}' FROM generate_series(1, 5000) AS i;
  INSERT INTO journal (place, position, at, action, actor_type, actor_id, details, chat_id)
    SELECT '${pid}', 0, i, 'link.removed', 'key', 'another key', '{}', '1100001'
    FROM generate_series(1, 5) AS i;
  INSERT INTO day_counts (ends_at, counter, counted)
    SELECT ${windowsEnd}, 'day:' || i, i FROM generate_series(1, ${accounts * 300}) AS i;
  INSERT INTO usage_days (key_id, starts_at, route_group, served, refused, errors)
    SELECT lpad(i::text, 12, '0'), day * ${dayMs}::bigint, 'lookup', 1, 0, 0
    FROM generate_series(1, ${accounts * 10}) AS i, generate_series(1, 20) AS day;
  INSERT INTO blocks (pid, user_hash, chat_id, blocked_at)
    SELECT 'pid_' || lpad((i / 100)::text, 16, '0'), 'hash ' || i, (9000000 + i)::text, i
    FROM generate_series(1, ${accounts * 100}) AS i;
  INSERT INTO guild_logs (id, pid, guild_id, position, problems)
    SELECT 'log ' || i, 'pid_' || lpad((i / 10)::text, 16, '0'), i::text, 0, '[]'
    FROM generate_series(1, ${accounts * 10}) AS i;
  INSERT INTO guild_log_users (log_id, message_id, chat_id)
    SELECT 'log ' || i / 10, i::text, (1000000 + i)::text FROM generate_series(1, ${accounts * 100}) AS i;
  INSERT INTO guild_log_messages (log_id, message_id, channel_id, lines, at)
    SELECT log_id, message_id, '1', '[]', 1 FROM guild_log_users;
  INSERT INTO members (account, chat_id, role, since)
    SELECT 'account ' || i / 10, (1000000 + i)::text, 'admin', 1 FROM generate_series(1, ${accounts * 100}) AS i;
  INSERT INTO link_imports (id, pid, name, imported_at, ends_at, inserted, replaced, unchanged, kept, removed, restored)
    VALUES ('import 2', '${pid}', '', 1, 9, 1000, 0, 0, 0, 0, 0);
  INSERT INTO import_links (import_id, chat_id, game_id, link_version, verified_at)
    SELECT 'import 2', chat_id, game_id, link_version, last_verified_at FROM links
    WHERE pid = '${pid}' AND last_verified_at > ${number * 1_000 + 100};
  INSERT INTO import_progress (source, position, saved_at) SELECT 'source ' || i, i, i
    FROM generate_series(1, ${accounts * 100}) AS i;

  -- Of the 200 sessions of each account, ten are unfinished. Each of the 20 flows has a challenge, and proofs of both
  -- accounts. If i is even, flow i has the unfinished session 10 * i.
  INSERT INTO verification_sessions
    (sid, key_id, pid, client_id, chat_id, state, link_changed, created_at, expires_at, change, changed_at)
    SELECT 'vs_' || lpad(i::text, 43, '0'), lpad((i / 20)::text, 12, '0'), 'pid_' || lpad((i / 200)::text, 16, '0'),
      '', (1000000 + i * 5)::text, CASE WHEN i % 20 = 0 THEN 'pending' ELSE 'completed' END, 0, 0, 1000000 + i, 1,
      CASE WHEN i % 20 = 0 THEN NULL ELSE 1000000 - i END
    FROM generate_series(1, ${accounts * 200}) AS i;
  INSERT INTO session_bursts (key_id, full_at) SELECT id, 0 FROM keys;
  INSERT INTO verification_flows (id, sid, pid, chat_id, game_id, game_proof, word_seed, seen_version, expires_at)
    SELECT 'flow ' || i, 'vs_' || lpad((10 * i)::text, 43, '0'), 'pid_' || lpad((i / 20)::text, 16, '0'),
      (1000000 + i * 50)::text, '1', 'oauth', 'seed', 1, 1000000 + i
    FROM generate_series(1, ${accounts * 20}) AS i;
  INSERT INTO sign_ins (state_hash, flow_id, step, expires_at)
    SELECT 'state ' || i, 'flow ' || i, 'chat', 1000000 FROM generate_series(1, ${accounts * 20}) AS i;
  INSERT INTO site_sign_ins (id, site, chat_id, guilds, created_at, expires_at)
    SELECT 'sign-in ' || i, 'dashboard', (1000000 + i)::text, '[]', i, 1000000 + i
    FROM generate_series(1, ${Math.max(accounts * 20, 2_000)}) AS i;
  INSERT INTO begun_sign_ins (state_hash, site, expires_at)
    SELECT 'begun ' || i, 'dashboard', 1000000 + i
    FROM generate_series(1, ${Math.max(accounts * 20, 2_000)}) AS i;

  -- All users of a scope were seen at one address.
  INSERT INTO sightings (pid, chat_id, place_hash, sealed_address, address_key_id, seen_at, first_seen_at)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), (1000000 + i)::text, 'hash', '', '', i, i
    FROM generate_series(1, ${accounts * 1_000}) AS i;
  INSERT INTO place_users (pid, place_hash, users)
    SELECT scopes.pid, 'hash', COUNT(chat_id) FROM scopes LEFT JOIN sightings ON sightings.pid = scopes.pid
    GROUP BY scopes.pid;
  INSERT INTO alt_reviews (pid, chat_id, other_chat_id, verdict, reviewed_at, key_id)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), (1000000 + i)::text, (1000007 + i)::text,
      'same', i, '000000000000'
    FROM generate_series(1, ${accounts * 1_000}) AS i;

  INSERT INTO suspects (pid, chat_id, other_chat_id, game_id, linked_at, score, evidence)
    SELECT pid, chat_id, other_chat_id, '1', reviewed_at, 1, '[]' FROM alt_reviews;

  -- Each scope has a thousand events, and a webhook that has tried to deliver them.
  INSERT INTO journal (place, position, event_id, at, action, actor_type, actor_id, details, fields)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), i % 1000, 'evt_' || lpad(i::text, 26, '0'), i, 'link.set',
      'operator', '', '{}', '{}'
    FROM generate_series(1000, ${accounts * 1_000}) AS i;
  INSERT INTO journal (place, event_id, at, action, details, fields)
    SELECT '${pid}', 'evt_' || lpad(i::text, 26, '0'), i, 'session.completed', '{}', '{}' FROM generate_series(1, 3) AS i;
  INSERT INTO feed_starts (pid, position) SELECT pid, 1 FROM scopes;
  INSERT INTO webhooks (id, pid, url, types, description, status, created_at, secrets, position, holder)
    SELECT 'wh_' || lpad(substr(pid, 5), 20, '0'), pid, 'https://example.com', '[]', '', 'active', 1, '[]', 995, 'node'
    FROM scopes;
  INSERT INTO webhook_deliveries (webhook_id, event_id, position, type, at, status, attempts, resends, next_attempt_at, lane)
    SELECT 'wh_' || lpad((i / 1000)::text, 20, '0'), 'evt_' || lpad((i % 1000)::text, 26, '0'), i % 1000, 'link.set', i,
      CASE WHEN i % 100 = 0 THEN 'failing' ELSE 'delivered' END, 1, 0,
      CASE WHEN i % 100 = 0 THEN i END, CASE WHEN i % 100 = 0 THEN 'lane ' || i % 1000 END
    FROM generate_series(1000, ${accounts * 1_000}) AS i;
  INSERT INTO webhook_deliveries (webhook_id, event_id, position, type, at, status, attempts, resends, lane)
    SELECT '${waiting}', 'evt_' || lpad(i::text, 26, '0'), i, 'link.set', i, 'waiting', 0, 0, 'lane 100'
    FROM generate_series(1001, 3000) AS i;

  -- Each scope has a role plan with 50 problems and 1,000 members, 100 of them waiting.
  INSERT INTO role_plans (pid, guild_id, rules, unlinked, state, position, revision, sweep_done, holder)
    SELECT pid, (700000000 + substr(pid, 5)::bigint)::text, '[]', 'remove', 'on', 1, 1, 0,
      CASE WHEN substr(pid, 5)::bigint < 5 THEN 'node' ELSE 'other' END
    FROM scopes;
  INSERT INTO role_changes (pid, guild_id, number, chat_id, role_id, change, at, because, outcome, last)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), (700000000 + i / 1000)::text, i % 1000, (1000000 + i)::text, '1',
      'gave', i, 'sweep', 'made', 'gave'
    FROM generate_series(1000, ${accounts * 1_000}) AS i;
  INSERT INTO plan_notices (pid, guild_id, chat_id, problems)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), i::text, (1000000 + i)::text, '[]'
    FROM generate_series(1000, ${accounts * 1_000}) AS i;
  INSERT INTO role_plan_nodes (id, lives_until) VALUES ('node', 1000), ('other', 1000);
  INSERT INTO role_members (pid, guild_id, chat_id, mark, since, due_at, nickname)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), (700000000 + i / 1000)::text, (1000000 + i)::text, 1,
      CASE WHEN i % 10 = 0 THEN i END, CASE WHEN i % 10 = 0 THEN i END, 'ada'
    FROM generate_series(1000, ${accounts * 1_000}) AS i;
  INSERT INTO role_problems (pid, guild_id, chat_id, role_id, reason, at)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), (700000000 + i / 1000)::text, (1000000 + i)::text, '1',
      'role_missing', i
    FROM generate_series(1000, ${accounts * 1_000}, 20) AS i;
`;
