/** Runs a server and a receiver of webhooks, and makes accounts whose owners create webhooks. */

import { expect } from "vitest";
import { type Json, listOf, textOf } from "../support/http.ts";
import { dataOf, isoTime } from "./contract_server.ts";
import { createKey, type Owner, signInOwner } from "./dashboard.ts";
import { managedBy, useSiteServer } from "./site_server.ts";
import { useReceiver } from "./webhook_receiver.ts";

/** The only manager of the guild, and two other chat users. */
export const [ada, bob, cyd] = ["100001", "100002", "100003"] as const;

export const anEventId = expect.stringMatching(/^evt_[0-9A-Z]{26}$/) as unknown;

/** A delivery that succeeded at once, as the dashboard lists it, without its type. */
export const delivered = {
  eventId: anEventId,
  at: isoTime,
  attempts: 1,
  status: "delivered",
  responseStatus: 204,
  error: null,
  nextAttemptAt: null,
};

let users = 5;
/** A chat user that no other test uses. */
export const newUser = () => String(100_000 + ++users);

export const webhookOf = async (owner: Owner, id: string): Promise<Json | undefined> => {
  const { body } = await owner.send("GET /dashboard/api/webhooks");
  return listOf(body.data?.webhooks).find((webhook) => textOf(webhook.id) === id);
};

export const deliveriesOf = async (owner: Owner, id: string, query = ""): Promise<ReadonlyArray<Json>> => {
  const { body } = await owner.send(`GET /dashboard/api/webhooks/${id}/deliveries${query}`);
  return listOf(body.data?.deliveries);
};

const clear = async (owner: Owner) => {
  const { body } = await owner.send("GET /dashboard/api/webhooks");
  for (const { id } of listOf(body.data?.webhooks)) {
    await owner.send(`DELETE /dashboard/api/webhooks/${textOf(id)}`);
  }
};

/** Runs one server for all tests of a file. The server may send webhooks to a receiver on this machine. */
export const useWebhooks = async () => {
  const receiver = await useReceiver();
  const server = useSiteServer(
    {
      ACCOUNTLINK_FREE_KEYS: "20",
      ACCOUNTLINK_FREE_WINDOW: "0 seconds",
      ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.1/32",
    },
    managedBy([ada]),
  );
  let paths = 0;
  return {
    receiver,
    server,

    createWebhook: async (owner: Owner, chosen: object = {}) => {
      const path = `/hook-${++paths}`;
      const body = { url: `${receiver.url}${path}`, scope: "global", ...chosen };
      const created = await owner.send("POST /dashboard/api/webhooks", { body });
      const { secret, webhook = {} } = dataOf(created, 201);
      return { path, secret: textOf(secret), id: textOf(webhook.id), webhook };
    },

    /**
     * Signs in an account owner, deletes all webhooks of the account and creates a key. The returned `link` links users
     * with this key.
     */
    newOwner: async (chatId: string = cyd) => {
      const owner = await signInOwner(server, chatId);
      await clear(owner);
      const { token } = await createKey(owner);
      const link = (chatUser: string, gameId: string) =>
        server.send("PATCH /v2/game", {
          key: token,
          body: { chatId: chatUser, gameId },
          from: "198.18.250.2",
        });
      return { owner, link };
    },
  };
};
