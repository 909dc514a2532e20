/** Every act has a row: the law of undo that holds its kind on every storage, or why no law does. */
import { type UndoLaw, undoLaws } from "@accountlink/testing/conformance/commands";
import { expect, test } from "vitest";
import { accountlink } from "../../apps/server/commands/accountlink.ts";
import { listRoutes } from "../load/neighbours/requests.ts";

interface Unheld {
  readonly none: string;
}

const reads: Unheld = { none: "reads, or starts a comparison that changes nobody" };
const secret: Unheld = { none: "makes or ends a secret: a second one is another, and no end is taken back" };
const sends: Unheld = { none: "sends something, which cannot be taken back, and sends it again" };
const signIn: Unheld = { none: "of a sign-in, which signing in again brings back" };
const flow: Unheld = { none: "begins or ends a verification, which its user can begin again" };
const forGood: Unheld = { none: "deletes for good, after a question that says so" };
const rulesDo: Unheld = { none: "does what the rules say: role_couriers_test.ts, put_back_test.ts" };
const operation: Unheld = { none: "runs, stops or moves a server: test/faults, test/operating" };

/** The law of each act on stored data, by route, form and command, or why it has none. */
const acts: Readonly<Record<string, UndoLaw | Unheld>> = {
  "POST /v2/chat/bulk": reads,
  "POST /v2/game/bulk": reads,
  "POST /v2/alts/bulk": reads,
  "PUT /v2/alts/reviews": "review",
  "DELETE /v2/alts/reviews": "review",
  "PATCH /v2/chat": "move a link",
  "PATCH /v2/game": "link",
  "DELETE /v2/game": "unlink",
  "DELETE /v2/data": "delete data",
  "POST /v2/members/sync": rulesDo,
  "POST /v2/keys/leaked": secret,
  "POST /v2/sessions": flow,
  "DELETE /v2/sessions/:sid": flow,
  "DELETE /api/v1/database/reset": "delete data",
  "DELETE /api/v1/link/delete-game": "unlink",
  "PUT /api/v1/link/update-chat": "move a link",
  "PUT /api/v1/link/update-game": "link",
  "POST /api/v1/verify/session": flow,
  "DELETE /dashboard/api/account": forGood,
  "PATCH /dashboard/api/account": "name an account",
  "DELETE /dashboard/api/session": signIn,
  "POST /dashboard/api/session/account": signIn,
  "DELETE /dashboard/api/session/invitations/:account": "add a member",
  "POST /dashboard/api/members": "add a member",
  "PATCH /dashboard/api/members/:chatId": "role of a member",
  "DELETE /dashboard/api/members/:chatId": "add a member",
  "POST /dashboard/api/keys": secret,
  "PATCH /dashboard/api/keys/:id": "fields of a key",
  "DELETE /dashboard/api/keys/:id": secret,
  "POST /dashboard/api/keys/:id/rotate": secret,
  "POST /dashboard/api/webhooks": secret,
  "DELETE /dashboard/api/webhooks/:id": secret,
  "PATCH /dashboard/api/webhooks/:id": "fields of a webhook",
  "POST /dashboard/api/webhooks/:id/rotate": secret,
  "POST /dashboard/api/webhooks/:id/deliveries/:eventId/resend": sends,
  "POST /dashboard/api/webhooks/:id/send-pending": sends,
  "POST /dashboard/api/webhooks/:id/test": sends,
  "PUT /dashboard/api/roles": "rules",
  "DELETE /dashboard/api/roles": "rules",
  "POST /dashboard/api/roles/preview": reads,
  "POST /dashboard/api/roles/put-back": "give roles back",
  "POST /dashboard/api/roles/sweep": rulesDo,
  "POST /dashboard/api/panel": sends,
  "PUT /dashboard/api/links": "link",
  "DELETE /dashboard/api/links": "unlink",
  "POST /dashboard/api/links/restore": "unlink",
  "DELETE /dashboard/api/scopes/:pid": "delete data",
  "PATCH /dashboard/api/scopes/:pid": "settings of a list",
  "PUT /dashboard/api/blocks": "block",
  "DELETE /dashboard/api/blocks": "block",
  "POST /dashboard/api/blocks/import": "block",
  "DELETE /dashboard/api/alts/reviews": "review",
  "PUT /dashboard/api/alts/reviews": "review",

  "POST /go": flow,
  "POST /verify/game/known": flow,
  "POST /verify/game/connection": flow,
  "POST /verify/game/words": flow,
  "POST /verify/game/words/check": flow,
  "POST /verify/confirm": "link",
  "POST /verify/cancel": flow,
  "POST /chat/interactions": { none: "answers in chat, by the same services: chat_test.ts" },

  "POST /dashboard/sign-out": signIn,
  "POST /dashboard/account/choose": signIn,
  "POST /dashboard/account/end": signIn,
  "POST /dashboard/account/decline": "add a member",
  "POST /dashboard/account/name": "name an account",
  "POST /dashboard/account/rename": "name an account",
  "POST /dashboard/account/delete": forGood,
  "POST /dashboard/team/add": "add a member",
  "POST /dashboard/team/role": "role of a member",
  "POST /dashboard/team/remove": "add a member",
  "POST /dashboard/communities": {
    none: "opens a list, which is one however often: dashboard_communities_test.ts",
  },
  "POST /dashboard/communities/:pid": "settings of a list",
  "POST /dashboard/communities/:pid/delete": "delete data",
  "POST /dashboard/communities/:pid/channels": "settings of a community",
  "POST /dashboard/communities/:pid/roles": "rules",
  "POST /dashboard/communities/:pid/roles/preview": "rules",
  "POST /dashboard/communities/:pid/roles/history": "give roles back",
  "POST /dashboard/links/apply-roles": rulesDo,
  "POST /dashboard/links/link": "link",
  "POST /dashboard/links/restore": "unlink",
  "POST /dashboard/links/unlink": "unlink",
  "POST /dashboard/links/unlink-all": "unlink",
  "POST /dashboard/links/block": "block",
  "POST /dashboard/links/block-list": "block",
  "POST /dashboard/links/blocks/import": "block",
  "POST /dashboard/links/unblock": "block",
  "POST /dashboard/imports": { none: "reads a file; nothing is stored before it is started" },
  "POST /dashboard/imports/:id/start": "import",
  "POST /dashboard/imports/:id/drop": { none: "forgets a file that was not started" },
  "POST /dashboard/imports/:id/undo": "import",
  "POST /dashboard/keys": secret,
  "POST /dashboard/keys/:id/update": "fields of a key",
  "POST /dashboard/keys/:id/status": "fields of a key",
  "POST /dashboard/keys/:id/rotate": secret,
  "POST /dashboard/keys/:id/revoke": secret,
  "POST /dashboard/try": reads,
  "POST /dashboard/webhooks": secret,
  "POST /dashboard/webhooks/:id/update": "fields of a webhook",
  "POST /dashboard/webhooks/:id/status": "fields of a webhook",
  "POST /dashboard/webhooks/:id/test": sends,
  "POST /dashboard/webhooks/:id/send-pending": sends,
  "POST /dashboard/webhooks/:id/resend": sends,
  "POST /dashboard/webhooks/:id/rotate": secret,
  "POST /dashboard/webhooks/:id/delete": secret,
  "POST /dashboard/alts/reviews": "review",

  "POST /me/sign-out": signIn,
  "POST /me/link": flow,
  "POST /me/remove": "unlink",
  "POST /me/export": reads,
  "POST /me/addresses/forget": forGood,
  "POST /me/browsers/forget": forGood,
  "POST /me/erase": forGood,

  "accounts list": reads,
  "accounts show": reads,
  "accounts set-tier": "status or tier of an account",
  "accounts suspend": "status or tier of an account",
  "accounts restore": "status or tier of an account",
  "accounts members list": reads,
  "accounts members add": "add a member",
  "accounts members set-role": "role of a member",
  "accounts members remove": "add a member",
  "keys create": secret,
  "keys list": reads,
  "keys update": "fields of a key",
  "keys rotate": secret,
  "keys disable": "fields of a key",
  "keys enable": "fields of a key",
  "keys revoke": secret,
  "links import": "import",
  "links export": reads,
  "users export": reads,
  "users erase": forGood,
  "webhooks list": reads,
  "webhooks create": secret,
  "webhooks update": "fields of a webhook",
  "webhooks delete": secret,
  "webhooks rotate": secret,
  "webhooks test": sends,
  "webhooks deliveries": reads,
  "webhooks resend": sends,
  "webhooks send-pending": sends,
  "roles show": reads,
  "roles set": "rules",
  "roles sweep": rulesDo,
  "chat install": {
    none: "tells the platform of the commands, the same ones each time: installation_test.ts",
  },
  "chat show": reads,
  "secrets rotate": secret,
  "audit list": reads,
  trace: reads,
  listen: reads,
  doctor: reads,
  serve: operation,
  migrate: operation,
  backup: operation,
  restore: operation,
  resume: operation,
  move: operation,
};

/** Laws of what a courier does, without a route or command. */
const ofCouriers: ReadonlyArray<UndoLaw> = ["change a role"];

interface Subcommands {
  readonly name: string;
  readonly subcommands: ReadonlyArray<{ readonly commands: ReadonlyArray<Subcommands> }>;
}

const commandsIn = ({ subcommands }: Subcommands, before = ""): ReadonlyArray<string> =>
  subcommands
    .flatMap(({ commands }) => commands)
    .flatMap((command) => {
      const name = `${before}${command.name}`;
      return command.subcommands.length === 0 ? [name] : commandsIn(command, `${name} `);
    });

test("every writing route, form and command has a row of the law of undo, and every law an act", async () => {
  const writing = (await listRoutes()).filter((line) => !/^(?:GET|HEAD) /u.test(line));
  const commands = commandsIn(accountlink);
  expect([writing.length > 100, commands.length > 40]).toEqual([true, true]);
  expect(Object.keys(acts).toSorted()).toEqual([...writing, ...commands].toSorted());
  const held = Object.values(acts).flatMap((row) => (typeof row === "string" ? [row] : []));
  expect([...new Set([...held, ...ofCouriers])].toSorted()).toEqual(Object.keys(undoLaws).toSorted());
});
