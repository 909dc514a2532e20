import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { InvalidWebhook, verifyWebhook } from "./mod.ts";

const bytes = Buffer.alloc(32, 7);
const secret = `whsec_${bytes.toString("base64")}`;
const sent = {
  type: "link.set",
  timestamp: "2026-11-22T10:00:00.000Z",
  data: { chatId: "100001", gameId: "1" },
  scope: { pid: "pid_0123456789abcdefghij", guildId: null },
};

const sign = (key: Buffer, text: string) => `v1,${createHmac("sha256", key).update(text).digest("base64")}`;

/** Makes a delivery, with some fields replaced. */
const delivery = ({
  body = JSON.stringify(sent),
  id = "evt_1",
  age = 0,
  timestamp = String(Math.floor(Date.now() / 1_000) - age),
  signature = "",
  key = bytes,
} = {}) => {
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signature === "" ? sign(key, `${id}.${timestamp}.${body}`) : signature,
  };
  return new Request("https://example.com/links", { method: "POST", body, headers });
};

const expectRefused = async (request: Request, reason: string | RegExp, by = secret) => {
  const refused = verifyWebhook(request, by);
  await expect(refused).rejects.toBeInstanceOf(InvalidWebhook);
  await expect(refused).rejects.toThrow(reason);
};

it("verifyWebhook returns the event of a signed request", async () => {
  expect(await verifyWebhook(delivery(), secret)).toEqual({ id: "evt_1", ...sent });
});

it("verifyWebhook accepts a request if one of its signatures is valid, as during a rotation", async () => {
  const request = delivery();
  const own = request.headers.get("webhook-signature") ?? "";
  request.headers.set("webhook-signature", `v1a,abc ${sign(Buffer.alloc(32), "other")} ${own}`);
  expect(await verifyWebhook(request, secret)).toMatchObject({ id: "evt_1" });
});

it.each([
  ["another secret", delivery({ key: Buffer.alloc(32, 8) })],
  ["another body", delivery({ signature: sign(bytes, "evt_1.0.{}") })],
  ["no signature", delivery({ signature: "none" })],
  ["a signature of another version", delivery({ signature: `v2,${Buffer.alloc(32).toString("base64")}` })],
  ["a signature in the alphabet of URLs", delivery({ signature: `v1,${"_".repeat(43)}=` })],
  [
    "a timestamp that takes in the body",
    delivery({ timestamp: "1.{}", signature: sign(bytes, "evt_1.1.{}.{}"), body: "{}" }),
  ],
  ["no headers", new Request("https://example.com", { method: "POST", body: "{}" })],
])("verifyWebhook refuses a request with %s", async (_, request) => {
  await expectRefused(request, "not signed");
});

it.each([400, -400])("verifyWebhook says that a clock is off by %d seconds", async (age) => {
  await expectRefused(delivery({ age }), / is signed, .* \d{3} seconds off/);
});

it.each([
  ["empty", ""],
  ["with a version before it", `v1,${bytes.toString("base64")}`],
  ["in quotes", `"${secret}"`],
  ["in the alphabet of URLs", `whsec_${Buffer.alloc(32, 255).toString("base64url")}`],
  ["too short", "whsec_MfKQ"],
  ["with a space", `${secret} `],
])("verifyWebhook says that a secret is none: %s", async (_, wrong) => {
  await expectRefused(delivery(), "its secret is none", wrong);
});

it.each(["{", "", "[]", "null", "7"])(
  "verifyWebhook says that a signed body is no JSON object: %j",
  async (body) => {
    await expectRefused(delivery({ body }), "no JSON object");
  },
);

it("verifyWebhook says that headers are none, as those of Node's own requests", async () => {
  const plain = { headers: Object.fromEntries(delivery().headers), text: async () => JSON.stringify(sent) };
  await expectRefused(plain as unknown as Request, "no Headers");
});
