/** Gives a member the roles and the nickname that the plan wants. The button of members does the same. */
import { MemberSync } from "@accountlink/core/roles";
import { Effect } from "effect";
import { type Answer, type Asked, type Listing } from "../command.ts";
import { plain, rolesText, userText } from "../markdown.ts";
import type { Message } from "../message.ts";

/** Manage Roles. */
const permission = 28;

export const updateListings: ReadonlyArray<Listing> = [
  {
    name: "update",
    texts: { name: "chat.command.update.name", description: "chat.command.update.description" },
    option: "user",
    permission,
  },
  {
    name: "Update roles",
    texts: { name: "chat.command.update.menu", description: null },
    permission,
  },
];

export const makeUpdate = Effect.map(MemberSync, ({ sync }) => {
  const update: Answer = Effect.fn("chat.update")(function* ({ plan, target, language }: Asked) {
    const user = userText(target);
    const { added, removed, nickname, settled } = yield* sync(plan, target);
    const lines: Array<string> = [];
    if (added.length > 0) lines.push(language.text("chat.sync.added", { roles: rolesText(added) }));
    if (removed.length > 0) lines.push(language.text("chat.sync.removed", { roles: rolesText(removed) }));
    if (nickname !== null)
      lines.push(language.text("chat.sync.nickname", { nickname: plain(nickname) || "–" }));
    if (lines.length > 0) lines.unshift(language.text("chat.sync.changed", { user }));
    const refused = settled.problems.flatMap(({ roleId }) => (roleId === null ? [] : [roleId]));
    if (refused.length > 0) lines.push(language.text("chat.sync.refused", { roles: rolesText(refused) }));
    if (refused.length < settled.problems.length) lines.push(language.text("chat.sync.nickname_refused"));
    return {
      content: lines.length === 0 ? language.text("chat.sync.same", { user }) : lines.join("\n"),
    } satisfies Message;
  });
  return update;
});
