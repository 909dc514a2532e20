/** Every act has a row: the law of undo that holds its kind on every storage, or why there is none. */
import { compatRoutes, dashboardRoutes, routes } from "@accountlink/http-api";
import { type UndoLaw, undoLaws } from "@accountlink/testing/conformance/commands";
import { expect, test } from "vitest";

interface Unheld {
  readonly none: string;
}

const reads: Unheld = { none: "reads, or starts a comparison that changes nobody" };
const secret: Unheld = { none: "makes or ends a secret: a second one is another, and no end is taken back" };
const sends: Unheld = { none: "sends something, which cannot be taken back, and sends it again" };
const signIn: Unheld = { none: "of a sign-in, which signing in again brings back" };
const flow: Unheld = { none: "begins or ends a verification, which its user can begin again" };
const member: Unheld = {
  none: "of a team: the opposite act is another invitation; dashboard_members_test.ts",
};

/** What makes, repeats or takes back what is stored, by route. */
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
  "POST /v2/members/sync": { none: "does what the rules say: role_couriers_test.ts, put_back_test.ts" },
  "POST /v2/keys/leaked": secret,
  "POST /v2/sessions": flow,
  "DELETE /v2/sessions/:sid": flow,
  "DELETE /api/v1/database/reset": "delete data",
  "DELETE /api/v1/link/delete-game": "unlink",
  "PUT /api/v1/link/update-chat": "move a link",
  "PUT /api/v1/link/update-game": "link",
  "POST /api/v1/verify/session": flow,
  "DELETE /dashboard/api/account": { none: "deletes the account, for good" },
  "PATCH /dashboard/api/account": { none: "names the account: the name before is chosen again" },
  "DELETE /dashboard/api/session": signIn,
  "POST /dashboard/api/session/account": signIn,
  "DELETE /dashboard/api/session/invitations/:account": member,
  "POST /dashboard/api/members": member,
  "PATCH /dashboard/api/members/:chatId": member,
  "DELETE /dashboard/api/members/:chatId": member,
  "POST /dashboard/api/keys": secret,
  "PATCH /dashboard/api/keys/:id": { none: "sets fields of a key: dashboard_keys_test.ts sets them back" },
  "DELETE /dashboard/api/keys/:id": secret,
  "POST /dashboard/api/keys/:id/rotate": secret,
  "POST /dashboard/api/webhooks": secret,
  "DELETE /dashboard/api/webhooks/:id": secret,
  "PATCH /dashboard/api/webhooks/:id": { none: "sets fields of a webhook: dashboard_webhooks_test.ts" },
  "POST /dashboard/api/webhooks/:id/rotate": secret,
  "POST /dashboard/api/webhooks/:id/deliveries/:eventId/resend": sends,
  "POST /dashboard/api/webhooks/:id/send-pending": sends,
  "POST /dashboard/api/webhooks/:id/test": sends,
  "PUT /dashboard/api/roles": "rules",
  "DELETE /dashboard/api/roles": "rules",
  "POST /dashboard/api/roles/preview": reads,
  "POST /dashboard/api/roles/put-back": "give roles back",
  "POST /dashboard/api/roles/sweep": { none: "does what the rules say: role_couriers_test.ts" },
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
};

/** Laws of acts that have a page, a command, or a courier, and no route. */
const withoutRoute: ReadonlyArray<UndoLaw> = [
  "import",
  "settings of a community",
  "suspend an account",
  "change a role",
];

test("every writing route has a row of the law of undo, and every law an act", () => {
  const writing = [...routes, ...dashboardRoutes, ...compatRoutes]
    .map(({ method, path }) => `${method} ${path}`)
    .filter((line) => !/^(?:GET|HEAD) /u.test(line));
  expect(Object.keys(acts).toSorted()).toEqual([...new Set(writing)].toSorted());
  const held = Object.values(acts).flatMap((row) => (typeof row === "string" ? [row] : []));
  expect([...new Set([...held, ...withoutRoute])].toSorted()).toEqual(Object.keys(undoLaws).toSorted());
});
