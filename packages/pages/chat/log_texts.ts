/** What the log says: a line for each thing that happened, and counts of what would be too much. */

import type { ChatId, GameId } from "@accountlink/core";
import { type EventSource, type FeedEvent, usersNamedIn } from "@accountlink/core/events";
import type { HeldLog, LogEntry, LogLine } from "@accountlink/core/guild_log";
import { isChatId, isGameId } from "@accountlink/core/ids";
import { KeyStore } from "@accountlink/core/keys";
import { type GameProof, gameProofs } from "@accountlink/core/links";
import type { PlanProblem } from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";
import type { erasedMark } from "@accountlink/core/users";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Effect, Option } from "effect";
import { counted } from "../english_counts.ts";
import { Languages } from "../languages/mod.ts";
import { PageSettings } from "../page_settings.ts";
import { makeCommunity } from "./community.ts";
import { plain, plainText, userText } from "./message.ts";

export interface NewProblem extends Pick<PlanProblem, "reason" | "roleId"> {
  /** How many members it keeps from their role, as far as is known: a sweep may find more. 0 if it concerns the plan. */
  readonly members: number;
}

export type LogItem = { readonly at: Millis } & (
  | { readonly event: FeedEvent }
  | { readonly entry: LogEntry }
  | { readonly problem: NewProblem }
);

/** What items of a kind are called in counts. */
const kindNames = {
  linked: ["linked", "linked"],
  changed: ["changed their account", "changed their account"],
  unlinked: ["unlinked", "unlinked"],
  moved: ["link moved to another user", "links moved to other users"],
  erased: ["erased their data", "erased their data"],
  alike: ["new link with likely alts", "new links with likely alts"],
  refused: ["refused", "refused"],
  problem: ["new problem", "new problems"],
  other: ["other change", "other changes"],
} as const;

/** Returns the kind of an item, and how many of them it stands for; null for an event that the log does not tell. */
const kindOf = (item: LogItem): keyof typeof kindNames | null => {
  if ("entry" in item) return item.entry.is;
  if ("problem" in item) return "problem";
  switch (item.event.type) {
    case "link.set":
      return item.event.data.previousGameId === null ? "linked" : "changed";
    case "link.removed":
      return "unlinked";
    case "link.moved":
      return "moved";
    case "user.erased":
      return "erased";
    case "links.imported":
    case "scope.deleted":
      return "other";
    default:
      return null;
  }
};

export const isTold = (item: LogItem): boolean => kindOf(item) !== null;

/** The chat users that an item is about. Erased ones have no ID. */
export const usersIn = (item: LogItem): ReadonlyArray<ChatId> => {
  if ("entry" in item) return [item.entry.chatId];
  return "problem" in item || item.event.type === "user.erased" ? [] : usersNamedIn(item.event);
};

/** Whether an item is told before all others: a problem, or a likely alt. */
const isUrgent = (item: LogItem): boolean =>
  "problem" in item || ("entry" in item && item.entry.is === "alike");

/** Counts items by kind, such as `3 linked, 1 unlinked`. */
const countsText = (items: ReadonlyArray<LogItem>): string => {
  const counts = new Map<keyof typeof kindNames, number>();
  for (const item of items) {
    const kind = kindOf(item);
    if (kind !== null) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} ${kindNames[kind][count === 1 ? 0 : 1]}`).join(", ");
};

/** The most lines of a message, and the most characters of them together: with imports and counts, 2,000 are allowed. */
const mostLines = 10;
const mostCharacters = 1_400;

const isOwn = (source: EventSource): boolean => source === "flow" || source === "user";

const proofTexts: Readonly<Record<GameProof, string>> = {
  connection: "connected on the chat platform",
  oauth: "signed in at the game platform",
  words: "proven by words in the profile",
  session: "named by the game",
  known: "proven to another community before",
};

/** Ends the sentence of a link by hand: whether it is the one from before, and the reason that a member of the team gave. */
const endOf = ({ entry }: FeedEvent): string => {
  const { via, reason } = entry?.details ?? {};
  const before = via === "restore" ? ", as it was before." : ".";
  return typeof reason === "string" ? `${before} Reason: “${plainText(reason)}”` : before;
};

const isGameProof = (proof: unknown): proof is GameProof => gameProofs.some((known) => known === proof);

const nameOf = (chatId: ChatId | typeof erasedMark) =>
  isChatId(chatId) ? userText(chatId) : "a user whose data was erased";

/** Returns a function that makes the lines of one message about items, of which old ones are only counted. */
export const makeLogTexts = Effect.gen(function* () {
  const keys = yield* KeyStore;
  const community = yield* makeCommunity;
  const { publicUrl } = yield* HttpSettings;
  const { chatName, gameName } = yield* PageSettings;
  const english = yield* (yield* Languages).get("en");
  const game = community.game(english);

  const accountOf = (gameId: GameId | typeof erasedMark | null) =>
    isGameId(gameId) ? community.account(gameId) : Effect.succeed("an account");

  const actorOf = Effect.fnUntraced(function* ({ entry }: FeedEvent) {
    if (entry === null) return { text: "", chatIds: [] };
    const { actor, details } = entry;
    switch (actor.type) {
      case "account":
        return isChatId(actor.member)
          ? { text: ` by ${userText(actor.member)}`, chatIds: [actor.member] }
          : { text: " on the dashboard", chatIds: [] };
      case "key": {
        const key = Option.getOrNull(yield* keys.findById(actor.id));
        const name = key?.name ?? "";
        return { text: name === "" ? " by an API key" : ` by the API key “${plain(name)}”`, chatIds: [] };
      }
      case "operator":
        return { text: " by the operator", chatIds: [] };
      default:
        // Whoever proves an account takes it from other users.
        return actor.id === details["chatId"]
          ? { text: "", chatIds: [] }
          : { text: ` by ${nameOf(actor.id)}`, chatIds: isChatId(actor.id) ? [actor.id] : [] };
    }
  });

  /** Says how a link was proven, if its user proved it. */
  const proofOf = ({ entry }: FeedEvent): string => {
    const proof = entry?.details["proof"];
    return isGameProof(proof) ? `, ${textOf(proof)}` : "";
  };

  const textOf = (proof: GameProof): string =>
    proofTexts[proof].replace("the chat platform", chatName).replace("the game platform", gameName);

  const eventLine = Effect.fnUntraced(function* (event: FeedEvent) {
    const { type, data } = event;
    const by = yield* actorOf(event);
    const line = (text: string): LogLine => ({
      text,
      chatIds: [...new Set([...usersIn({ at: 0, event }), ...by.chatIds])],
    });
    switch (type) {
      case "link.set": {
        const account = yield* accountOf(data.gameId);
        const how = proofOf(event);
        const user = nameOf(data.chatId);
        if (data.previousGameId !== null) {
          const before = yield* accountOf(data.previousGameId);
          return line(
            isOwn(data.source)
              ? `${user} now plays as ${account}, no longer as ${before}${how}.`
              : `${user} was linked to ${account} in place of ${before}${by.text}${endOf(event)}`,
          );
        }
        return line(
          isOwn(data.source)
            ? `${user} linked ${account}${how}.`
            : `${user} was linked to ${account}${by.text}${endOf(event)}`,
        );
      }
      case "link.removed": {
        const account = yield* accountOf(data.previousGameId);
        const user = nameOf(data.chatId);
        return line(
          isOwn(data.source) && by.text === ""
            ? `${user} unlinked ${account}.`
            : `${user} was unlinked from ${account}${by.text}.`,
        );
      }
      case "link.moved": {
        const account = yield* accountOf(data.gameId);
        return line(
          `${account} moved from ${nameOf(data.previousChatId)} to ${nameOf(data.chatId)}${by.text}${proofOf(event)}.`,
        );
      }
      case "user.erased":
        return line("A user erased their data, and the links with it.");
      case "scope.deleted":
        return line(`The links of this list were deleted: ${counted(data.deletedRecords, "record")}.`);
      default:
        return null;
    }
  });

  const entryLine = Effect.fnUntraced(function* ({ scope: { pid } }: HeldLog, entry: LogEntry) {
    const { chatId, gameId } = entry;
    const account = yield* accountOf(gameId);
    const user = userText(chatId);
    if (entry.is === "refused") {
      const why = entry.why === "blocked" ? "is blocked" : "has an account that is too young";
      const tried = gameId === null ? "tried to link an account" : `tried to link ${account}`;
      return { text: `${user} ${tried}, but ${why}.`, chatIds: [chatId] };
    }
    const query = new URLSearchParams({ pid, chatId }).toString();
    const page = `[Look at it](<${publicUrl}/dashboard/alts?${query}>)`;
    const text = `${user}, who linked ${account}, may be somebody who is here already: alts ${entry.level}. ${page}`;
    return { text, chatIds: [chatId] };
  });

  const problemLine = ({ scope: { pid }, guildId }: HeldLog, problem: NewProblem): LogLine => {
    const query = new URLSearchParams({ guildId }).toString();
    const page = `[What you can do](<${publicUrl}/dashboard/communities/${pid}/roles?${query}>)`;
    return { text: `${problemText(problem, game)} ${page}`, chatIds: [] };
  };

  const lineOf = (log: HeldLog, item: LogItem) => {
    if ("entry" in item) return entryLine(log, item.entry);
    return "problem" in item ? Effect.succeed(problemLine(log, item.problem)) : eventLine(item.event);
  };

  return Effect.fnUntraced(function* (
    log: HeldLog,
    items: ReadonlyArray<LogItem>,
    late: ReadonlyArray<LogItem>,
  ) {
    const lines: Array<LogLine> = [];
    let length = 0;
    const others = items
      .filter((item) => importIn(item) === null)
      .toSorted((one, other) => Number(isUrgent(other)) - Number(isUrgent(one)));
    let told = 0;
    for (const item of others) {
      if (lines.length >= mostLines) break;
      const line = yield* lineOf(log, item);
      if (line !== null && length + line.text.length > mostCharacters && lines.length > 0) break;
      told++;
      if (line === null) continue;
      lines.push(line);
      length += line.text.length + 1;
    }
    lines.push(...importLines(items));
    const more = others.slice(told);
    if (more.length > 0)
      lines.push({ text: `-# And ${more.length} more: ${countsText(more)}.`, chatIds: [] });
    if (late.length > 0) {
      const counts = countsText(late);
      lines.push({
        text: `-# Not told, since the log could not be written in time: ${counts}.`,
        chatIds: [],
      });
    }
    return lines;
  });
});

/** The import, or the undo of one, that an item tells; null for other items. */
const importIn = (item: LogItem) =>
  "event" in item && item.event.type === "links.imported"
    ? { count: item.event.data.count, isUndo: item.event.isUndo === true }
    : null;

/** One line for all imports, and one for all undos, whose batches are events of their own. */
const importLines = (items: ReadonlyArray<LogItem>): ReadonlyArray<LogLine> => {
  const parts = items.flatMap((item) => importIn(item) ?? []);
  return [false, true].flatMap((isUndo) => {
    const ofKind = parts.filter((part) => part.isUndo === isUndo);
    if (ofKind.length === 0) return [];
    const count = ofKind.reduce((sum, part) => sum + part.count, 0);
    const were = count === 1 ? "was" : "were";
    const text = isUndo
      ? `${counted(count, "imported link")} ${were} undone: removed, or set back to the account from before.`
      : `${counted(count, "link")} ${were} imported.`;
    return [{ text, chatIds: [] }];
  });
};

const problemText = ({ reason, roleId, members }: NewProblem, game: string): string => {
  const role = roleId === null ? "a nickname" : `the role <@&${roleId}>`;
  const of = members > 1 ? ` of ${members} members so far` : "";
  switch (reason) {
    case "many_would_lose":
      return `The rules were paused: many members would lose ${role}.`;
    case "members_hidden":
      return "The bot cannot compare the members.";
    case "item_unknown":
      return `The rule for ${role} names something that does not exist.`;
    case "source_closed":
      return `A rule for ${role} gets no answer from ${game}.`;
    case "reminders_refused":
      return "The platform refuses the bot's reminders.";
    case "reminders_held":
      return "Reminders wait for those of other communities.";
    case "role_missing":
      return "A rule names a role that was deleted.";
    default:
      return `The bot may not change ${role}${of}.`;
  }
};
