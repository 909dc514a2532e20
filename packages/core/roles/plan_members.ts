/** The members of role plans whose changes are pending, in any storage. */
import { Array as Arr, Effect } from "effect";
import type { ChatId, GuildId } from "../ids.ts";
import { removeFound, type StoreRecords, type Tx } from "../records/records.ts";
import type { Millis } from "../timestamp.ts";
import { noSweep, type PlanMember, type PlanRecord, roleMembers, rolePlans } from "./plan_records.ts";
import { erasedLink, type PlanPlace, type RolePlanStore } from "./role_plan_store.ts";

/** @internal */
export type PlanStoreRecords = StoreRecords<keyof RolePlanStore["Service"]>;

const guildQueue = (guildId: GuildId): string => `role plans of guild ${guildId}`;

export const queueOf = ({ guildId }: PlanPlace) => guildQueue(guildId);

export const findPlan = (tx: Tx, { pid, guildId }: PlanPlace) => tx.get(rolePlans, pid, guildId);

export const heldBy = (tx: Tx, write: PlanPlace & { readonly node: string }) =>
  Effect.map(findPlan(tx, write), (plan) => (plan?.holder === write.node ? plan : undefined));

export const sweeping = (plan: PlanRecord, total: number, at: Millis): PlanRecord => ({
  ...plan,
  ...noSweep,
  revision: plan.revision + 1,
  sweepTotal: total,
  sweepStartedAt: at,
});

export const findMembers = Effect.fnUntraced(function* (
  tx: Tx,
  { pid, guildId }: PlanPlace,
  chatIds: ReadonlyArray<ChatId>,
) {
  const keys = [...new Set(chatIds)].map((chatId) => [pid, guildId, chatId]);
  const found = yield* tx.getAll(roleMembers, keys);
  return new Map(found.map((member) => [member.chatId, member]));
});

export const newMember = ({ pid, guildId }: PlanPlace, chatId: ChatId): PlanMember => ({
  pid,
  guildId,
  chatId,
  mark: 0,
  since: null,
  dueAt: null,
  nickname: null,
  replacedNickname: null,
  replacedAt: null,
});

const isEmpty = ({ dueAt, nickname, replacedAt }: PlanMember): boolean =>
  dueAt === null && nickname === null && replacedAt === null;

/** Stores members, and deletes empty ones. @internal */
export const putMembers = Effect.fnUntraced(function* (tx: Tx, members: ReadonlyArray<PlanMember>) {
  const kept = members.filter((member) => !isEmpty(member));
  yield* tx.putAll(roleMembers, kept);
  yield* removeFound(roleMembers)(tx, members.filter(isEmpty));
});

const markWaiting = Effect.fnUntraced(function* (
  tx: Tx,
  place: PlanPlace,
  chatIds: ReadonlyArray<ChatId>,
  at: Millis,
  erased: ReadonlyArray<ChatId> = [],
) {
  const before = yield* findMembers(tx, place, chatIds);
  const isErased = new Set(erased);
  const waiting = chatIds.map((chatId) => {
    const member = before.get(chatId) ?? newMember(place, chatId);
    const nickname = member.nickname ?? (isErased.has(chatId) ? erasedLink : null);
    return { ...member, mark: member.mark + 1, since: member.since ?? at, dueAt: at, nickname };
  });
  yield* tx.putAll(roleMembers, waiting);
});

/** @internal */
export const memberOperations = ({ read, write, mostWritten }: PlanStoreRecords) =>
  ({
    mark: Effect.fnUntraced(function* (marked) {
      const { at, position, chatIds, erased, sweepOf: total } = marked;
      const all = [...new Set(chatIds)];
      const parts: ReadonlyArray<typeof all> = all.length === 0 ? [all] : Arr.chunksOf(all, mostWritten);
      for (const [index, part] of parts.entries()) {
        const isHeld = yield* write("mark", queueOf(marked), function* (tx) {
          const stored = yield* heldBy(tx, marked);
          if (stored === undefined) return false;
          yield* markWaiting(tx, marked, part, at, erased);
          if (index < parts.length - 1) return true;
          const plan = { ...stored, position };
          yield* tx.put(rolePlans, total === null ? plan : sweeping(plan, total, at));
          return true;
        });
        if (!isHeld) return false;
      }
      return true;
    }),

    markMember: (guildId, chatId, at) =>
      write("markMember", guildQueue(guildId), function* (tx) {
        for (const plan of yield* tx.list(rolePlans.on, [guildId]))
          yield* markWaiting(tx, plan, [chatId], at);
      }),

    due: ({ pid, guildId }, at, limit) =>
      read("due", function* (tx) {
        const found = yield* tx.list(roleMembers.due, [pid, guildId], { before: [at + 1], limit });
        return found.map(({ chatId, mark, since, nickname }) => ({
          chatId,
          mark,
          since: since ?? at,
          nickname,
        }));
      }),

    nicknames: (place, chatIds) =>
      read("nicknames", function* (tx) {
        const found = yield* findMembers(tx, place, chatIds);
        return new Map(
          [...found].flatMap(([chatId, { nickname }]) =>
            nickname === null ? [] : [[chatId, nickname] as const],
          ),
        );
      }),
  }) satisfies Partial<RolePlanStore["Service"]>;
