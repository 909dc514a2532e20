import type { ChatId, Pid } from "@accountlink/core";
import { mostSuspects, type Suspect, SuspectStore } from "@accountlink/core/alts";
import { Order } from "effect";
import { layerOf, type Memory } from "./state.ts";

export const layer = layerOf(SuspectStore, (memory) => {
  const pairsOf = (pid: Pid) =>
    [...memory.suspects.values()].filter((stored) => stored.pid === pid).toSorted(newestFirst);

  return {
    add: (pid, suspects) => {
      const links = memory.linksOf(pid);
      for (const suspect of suspects) {
        const { chatId, gameId, otherChatId } = suspect;
        const isLinked = links.find(chatId)?.gameId === gameId;
        if (!isLinked || links.find(otherChatId) === undefined) continue;
        memory.suspects.set(nameOf(pid, suspect), { pid, suspect });
      }
      for (const { suspect } of pairsOf(pid).slice(mostSuspects))
        memory.suspects.delete(nameOf(pid, suspect));
    },

    find: (pid, since) =>
      pairsOf(pid).flatMap(({ suspect }) => {
        const { chatId, otherChatId, at } = suspect;
        const pair = [pid, ...[chatId, otherChatId].toSorted()].join(" ");
        const verdict = memory.reviews.get(pair)?.review.verdict ?? null;
        return at < since || verdict === "different" ? [] : [{ ...suspect, verdict }];
      }),

    forget: (before) => {
      for (const [name, { suspect }] of memory.suspects) {
        if (suspect.at < before) memory.suspects.delete(name);
      }
    },
  };
});

/** Deletes the pairs of a chat user in all scopes. */
export const forgetSuspects = (memory: Memory, user: ChatId): void => {
  for (const [name, { suspect }] of memory.suspects) {
    if (suspect.chatId === user || suspect.otherChatId === user) memory.suspects.delete(name);
  }
};

const nameOf = (pid: Pid, { chatId, otherChatId }: Suspect): string => `${pid} ${chatId} ${otherChatId}`;

interface Stored {
  readonly suspect: Suspect;
}

const newestFirst = ({ suspect: one }: Stored, { suspect: other }: Stored): number =>
  other.at - one.at ||
  Order.String(one.chatId, other.chatId) ||
  Order.String(one.otherChatId, other.otherChatId);
