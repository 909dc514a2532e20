/** For tests: SQL that adds many role plans, and operations of `RolePlanStore`. */
import { ChatId, GuildId, Pid } from "@accountlink/core";
import { RolePlanStore } from "@accountlink/core/roles";

const place = { pid: Pid.make(`pid_${"100".padStart(16, "0")}`), guildId: GuildId.make("700000100") };
const chatIds = Array.from({ length: 20 }, (_, index) => ChatId.make(`${1_100_000 + index * 40}`));

/** Adds to each scope a plan with 50 problems and 1,000 members, 100 of them waiting. */
export const fillRoles = (accounts: number) => `
  INSERT INTO role_plans (pid, guild_id, rules, unlinked, state, position, revision, sweep_done, holder)
    SELECT pid, (700000000 + substr(pid, 5)::bigint)::text, '[]', 'remove', 'on', 1, 1, 0,
      CASE WHEN substr(pid, 5)::bigint < 5 THEN 'node' ELSE 'other' END
    FROM scopes;
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

const members = chatIds.map((chatId) => ({ chatId, mark: 1, retryAt: null, nickname: "ada", problems: [] }));

const held = { ...place, node: "other", at: 1 };

export const roleOperations = {
  "RolePlanStore.find": RolePlanStore.use((plans) => plans.find(place)),
  "RolePlanStore.status": RolePlanStore.use((plans) => plans.status(place)),
  "RolePlanStore.due": RolePlanStore.use((plans) => plans.due(place, 100_500, 32)),
  "RolePlanStore.nicknames": RolePlanStore.use((plans) => plans.nicknames(place, chatIds)),
  "RolePlanStore.mark": RolePlanStore.use((plans) =>
    plans.mark({ ...held, position: 2, chatIds, sweepOf: null }),
  ),
  "RolePlanStore.settle": RolePlanStore.use((plans) =>
    plans.settle({ ...held, members, revision: 1, sweep: null }),
  ),
};
