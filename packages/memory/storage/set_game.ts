import type { Link } from "@accountlink/core";
import { type EventSource, linkSet, newEvent, sourceOf } from "@accountlink/core/events";
import { type GameSet, isLinked, type LinkRecord, linkedRecord, type SetGame } from "@accountlink/core/links";
import type { Memory } from "./state/state.ts";

export const findLink = (record: LinkRecord | undefined): Link | undefined =>
  record !== undefined && isLinked(record) ? record : undefined;

export const setGame = (
  memory: Memory,
  write: SetGame,
  source: EventSource = sourceOf(write.actor),
): GameSet => {
  const { pid, chatId, gameId, at } = write;
  const links = memory.linksOf(pid);
  const previous = links.find(chatId);
  const link = findLink(previous);
  const previousGameId = link?.gameId ?? null;
  if (link?.gameId === gameId) {
    const record = { ...link, lastVerifiedAt: at };
    links.put(record);
    return { record, previousGameId };
  }
  const record = linkedRecord(chatId, previous, gameId, at);
  memory.record({
    ...write,
    action: "link.set",
    scope: links.scope,
    details: { chatId, gameId, previousGameId },
  });
  links.put(record);
  memory.append(pid, newEvent(at, linkSet(record, previousGameId, source)));
  return { record, previousGameId };
};
