/** Checks that the roles of members follow their links. */
import type { Records } from "./clients.ts";
import { linkedRole, unlinkedRole } from "./guild.ts";
import type { Check } from "./promise.ts";
import { findStatus } from "./requests.ts";

/** Describes each member whose roles do not fit the link in the last answer about the member's verification status. */
export const wrongMembers = ({ deployment, operations }: Records): ReadonlyArray<string> =>
  deployment.hasPlan
    ? deployment.chatIds.flatMap((chatId) => {
        const { line } = findStatus(chatId);
        const outcome = operations.findLast(({ request }) => request.line === line)?.sent[0]?.outcome;
        if (outcome?.kind !== "answered") return [];
        const isLinked = (outcome.answer.body["data"]?.["gameId"] ?? null) !== null;
        const [found, expected] = [
          deployment.guild.rolesOf(chatId).join(" "),
          isLinked ? linkedRole : unlinkedRole,
        ];
        return found === expected ? [] : [`${chatId} has the roles "${found}", expected "${expected}"`];
      })
    : [];

export const roles: Check = (records) =>
  wrongMembers(records).map((how) => ({ promise: "In the end, roles equal the links", how }));
