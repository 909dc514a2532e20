/** Links that members of an account may make only with a reason. */
import { Effect, Option } from "effect";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { isLinked } from "../links/link.ts";
import { isProven } from "../links/link_proof.ts";
import { LinkStore } from "../links/link_store.ts";

/**
 * `own`: the member links themself. `proven_by_other`: another user has proven that the game account is theirs.
 * `replaces_proven`: the user has proven another game account.
 */
export type Contest = "own" | "proven_by_other" | "replaces_proven";

/** Returns a function that says why a link made on the dashboard needs a reason; null without a contest. */
export const makeContestOf = Effect.map(LinkStore, (store) =>
  Effect.fnUntraced(function* (
    pid: Pid,
    member: ChatId,
    { chatId, gameId }: { readonly chatId: ChatId; readonly gameId: GameId },
  ) {
    if (chatId === member) return "own" satisfies Contest;
    const sharing = (yield* store.findByGameIds(pid, [gameId])).get(gameId) ?? [];
    const others = yield* store.findByChatIds(
      pid,
      sharing.filter((each) => each !== chatId),
    );
    if ([...others.values()].some(({ proof }) => isProven(proof))) return "proven_by_other" satisfies Contest;
    const old = Option.filter(yield* store.findByChatId(pid, chatId), isLinked);
    const isReplaced = Option.exists(old, (record) => record.gameId !== gameId && isProven(record.proof));
    return isReplaced ? ("replaces_proven" satisfies Contest) : null;
  }),
);
