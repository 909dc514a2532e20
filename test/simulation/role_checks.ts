/** Checks that roles and nicknames of members follow their links, and that members are reminded once. */
import type { Records } from "./behaviour.ts";
import { shownBy } from "./guild_plan.ts";
import { type Check, slack } from "./promise.ts";
import { findStatus } from "./requests.ts";

/** Describes each member whose roles do not fit the link in the last answer about the member's verification status. */
export const wrongMembers = ({ deployment, operations, proofs }: Records): ReadonlyArray<string> => {
  const { guild } = deployment;
  const { settings } = guild;
  if (settings === null) return [];
  return deployment.chatIds.flatMap((chatId) => {
    const { line } = findStatus(chatId);
    const outcome = operations.findLast(({ request }) => request.line === line)?.sent[0]?.outcome;
    if (outcome?.kind !== "answered") return [];
    const gameId = outcome.answer.body["data"]?.["gameId"] ?? null;
    const linked =
      typeof gameId === "string"
        ? { gameId, isProven: proofs.some((proof) => proof.place === "main" && proof.gameId === gameId) }
        : null;
    const [found, expected] = [
      guild.shownOf(chatId),
      shownBy(settings, { chatId, held: guild.heldAtFirst(chatId), linked }),
    ].map((shown) => JSON.stringify(shown));
    return found === expected ? [] : [`${chatId} has ${found}, expected ${expected}`];
  });
};

export const roles: Check = (records) =>
  wrongMembers(records).map((how) => ({ promise: "In the end, roles and nicknames equal the links", how }));

export const reminders: Check = ({ deployment: { guild } }) => {
  const reminded = guild.messages.map(({ chatId }) => chatId);
  const twice = reminded.filter((chatId, index) => reminded.indexOf(chatId) !== index);
  return twice.map((chatId) => ({
    promise: "A member is reminded once",
    how: `${chatId} was reminded twice`,
  }));
};

/** The time between two reminders in a guild, in milliseconds. */
const reminderPause = 5_000;

/** Faults after which nodes do not agree on the time, or act later than they decided. */
const late = /clock|frozen|suspended|Postgres/;

export const pace: Check = ({ deployment: { guild, faults } }) =>
  guild.messages.flatMap(({ at, from, chatId }, index) => {
    const before = guild.messages[index - 1];
    if (before === undefined || at - before.at >= reminderPause - slack) return [];
    const isExact = from === before.from || !faults.some((fault) => late.test(fault.kind) && fault.from < at);
    if (!isExact) return [];
    const gap = `${Math.round(at - before.at)} ms after ${before.chatId}`;
    return [{ promise: "A guild's members are reminded one in five seconds", how: `${chatId}: ${gap}` }];
  });
