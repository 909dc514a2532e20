/** Links that members and keys of an account may make only with a reason. */
import { Effect, Option } from "effect";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { isLinked, isProven, LinkStore } from "../links/mod.ts";

/**
 * `own`: the member links themself. `proven_by_other`: another user has proven that the game account is theirs.
 * `replaces_proven`: the user has proven another game account.
 */
export type Contest = "own" | "proven_by_other" | "replaces_proven";

/**
 * Returns a function that says why a link that a member or a key makes needs a reason; null without a contest.
 *
 * @param makers the member who makes the link, or the owners with whose rights a key does
 */
export const makeContestOf = Effect.map(LinkStore, (store) =>
  Effect.fnUntraced(function* (
    pid: Pid,
    makers: ReadonlyArray<ChatId>,
    { chatId, gameId }: { readonly chatId: ChatId; readonly gameId: GameId },
  ) {
    const old = Option.filter(yield* store.findByChatId(pid, chatId), isLinked);
    if (Option.exists(old, (record) => record.gameId === gameId)) return null;
    if (makers.includes(chatId)) return "own" satisfies Contest;
    const sharing = (yield* store.findByGameIds(pid, [gameId])).get(gameId) ?? [];
    const otherIds = sharing.filter((each) => each !== chatId);
    const others = yield* store.findByChatIds(pid, otherIds);
    if ([...others.values()].some(({ proof }) => isProven(proof))) return "proven_by_other" satisfies Contest;
    return Option.exists(old, ({ proof }) => isProven(proof)) ? ("replaces_proven" satisfies Contest) : null;
  }),
);
