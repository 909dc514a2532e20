/** For tests: a Discord with an application, whose commands and address can be changed. */
import { generateKeyPairSync, sign } from "node:crypto";
import { type HeardRequest, type HttpAnswer, runUntil, startPlatformServer } from "@accountlink/test-servers";
import { onTestFinished } from "vitest";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");

interface StoredCommand {
  readonly name: string;
  readonly type: number;
}

const applicationId = "816547628409595165";

/**
 * @param application other values of the application
 * @returns the application, its commands, and the variables of a service that uses it
 */
export const startDiscord = async ({
  commands: first = [],
  refused,
  date,
  ...other
}: {
  /** The time that Discord says, as a header; without one, the true time. */
  date?: string;
  interactions_endpoint_url?: string;
  flags?: number;
  commands?: ReadonlyArray<StoredCommand>;
  /** The answer to every change of the commands, in place of making it. */
  refused?: HttpAnswer;
} = {}) => {
  const application = {
    id: applicationId,
    verify_key: publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex"),
    interactions_endpoint_url: null as string | null,
    flags: 0,
    ...other,
  };
  let commands = first;
  const answer = async ({ method, path, body, headers }: HeardRequest): Promise<HttpAnswer> => {
    if (headers["authorization"] !== "Bot the-token") return { status: 401, body: { code: 0 } };
    if (path === "/users/@me")
      return { headers: date === undefined ? {} : { date }, body: { id: applicationId, username: "linker" } };
    if (path === "/applications/@me") {
      if (method !== "PATCH") return { body: application };
      const changes = JSON.parse(body);
      if (!(await checksSignatures(changes.interactions_endpoint_url))) {
        return { status: 400, body: { code: 50_035 } };
      }
      Object.assign(application, changes);
      return { body: application };
    }
    if (path !== `/applications/${applicationId}/commands`) return { status: 404, body: { code: 0 } };
    if (method === "PUT" && refused !== undefined) return refused;
    if (method === "PUT") commands = JSON.parse(body);
    return {
      body: commands.map((command, index) => ({ nsfw: false, ...command, id: String(index), version: "1" })),
    };
  };
  const { url } = await runUntil(onTestFinished)(startPlatformServer("discord", (path) => path, answer));
  const environment = {
    ACCOUNTLINK_PLATFORM: "live",
    ACCOUNTLINK_PUBLIC_URL: "https://links.example",
    ACCOUNTLINK_CHAT_API_URL: url,
    ACCOUNTLINK_CHAT_BOT_TOKEN: "the-token",
    ACCOUNTLINK_CHAT_CLIENT_ID: applicationId,
    ACCOUNTLINK_CHAT_CLIENT_SECRET: "a-secret",
    ACCOUNTLINK_GAME_CLIENT_ID: "1",
    ACCOUNTLINK_GAME_CLIENT_SECRET: "a-secret",
  };
  return { application, commands: () => commands, environment };
};

/** Sends a ping with a right and one with a wrong signature, as Discord does before it sets an address. */
const checksSignatures = async (address: string): Promise<boolean> => {
  const ping = JSON.stringify({ id: "1", application_id: applicationId, type: 1, token: "ping", version: 1 });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const send = (signed: string) =>
    fetch(address, {
      method: "POST",
      body: ping,
      headers: {
        "content-type": "application/json",
        "x-signature-ed25519": sign(null, Buffer.from(timestamp + signed), privateKey).toString("hex"),
        "x-signature-timestamp": timestamp,
      },
    });
  try {
    const [right, wrong] = [await send(ping), await send("another body")];
    const pong = await right.text();
    await wrong.text();
    return right.status === 200 && JSON.parse(pong).type === 1 && wrong.status === 401;
  } catch {
    return false;
  }
};
