/**
 * A Discord bot with one command, `/verify`: it answers with a link to a verification session, reads a stream of the
 * session's changes, and edits its answer when the session ends.
 *
 * DISCORD_PUBLIC_KEY=<of the application> ACCOUNTLINK_URL=… ACCOUNTLINK_KEY=alk_… node examples/chat_bot.ts
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { AccountLinkError, type Client, createClient, type VerificationSession } from "@accountlink/client";

export interface BotSettings {
  readonly client: Client;
  /** The address of Discord's HTTP interface. */
  readonly discordUrl: string;
  /** The public key of the application, in hexadecimal. */
  readonly publicKey: string;
}

/** A request from Discord, with the bytes of its body, which the signature covers. */
export interface SignedRequest {
  readonly signature: string;
  readonly timestamp: string;
  readonly body: Uint8Array;
}

/** The fields of an interaction that the bot reads. */
interface Interaction {
  readonly type: number;
  readonly application_id: string;
  readonly token: string;
  readonly guild_id?: string;
  /** The user who typed the command: `member` in a guild, `user` in a direct message. */
  readonly member?: { readonly user: { readonly id: string } };
  readonly user?: { readonly id: string };
}

interface Message {
  readonly content: string;
  readonly components: ReadonlyArray<object>;
}

/** An answer, and the work to do after it is sent. */
interface Reply {
  readonly status: number;
  readonly body: object;
  readonly afterwards?: () => Promise<void>;
}

// Numbers by which Discord's API identifies the types of interactions, the types of answers, and a flag.
const ping = 1;
const command = 2;
const pong = 1;
const answer = 4;
const seenByUserAlone = 64;

/** Makes a function that answers a request from Discord. */
export const makeBot = async ({ client, discordUrl, publicKey }: BotSettings) => {
  const verifying = await crypto.subtle.importKey("raw", bytesOf(publicKey), "Ed25519", false, ["verify"]);

  const isSigned = ({ signature, timestamp, body }: SignedRequest) => {
    const signed = new Uint8Array([...new TextEncoder().encode(timestamp), ...body]);
    return crypto.subtle.verify("Ed25519", verifying, bytesOf(signature), signed);
  };

  const edit = async (interaction: Interaction, message: Message): Promise<void> => {
    const { application_id, token } = interaction;
    const { ok, status, headers } = await fetch(
      `${discordUrl}/webhooks/${application_id}/${token}/messages/@original`,
      { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify(message) },
    );
    if (status === 429) {
      await sleep(Number(headers.get("retry-after")) * 1_000);
      await edit(interaction, message);
    } else if (!ok) throw new Error(`Cannot edit the answer: Discord refused with status ${status}`);
  };

  const verify = async (interaction: Interaction): Promise<Reply> => {
    const { id = "" } = interaction.member?.user ?? interaction.user ?? {};
    const asked = { clientId: id, chatId: id, guildId: interaction.guild_id };
    // Discord waits 3 seconds for the answer, which leaves no time for a retry.
    const session = await client.sessions.create({ ...asked, timeout: 2_000, retryFor: 0 }).catch(refusalOf);
    if (session instanceof AccountLinkError) return replyWith(text(refusalText(session)));
    return {
      ...replyWith({
        content: "Link your game account within 5 minutes.",
        components: [button(session.url)],
      }),
      afterwards: async () => edit(interaction, text(await endingOf(client.sessions.watch(session.sid)))),
    };
  };

  return async (request: SignedRequest): Promise<Reply> => {
    if (!(await isSigned(request))) return { status: 401, body: { error: "Bad signature" } };
    const interaction = JSON.parse(new TextDecoder().decode(request.body)) as Interaction;
    if (interaction.type === ping) return { status: 200, body: { type: pong } };
    if (interaction.type === command) return verify(interaction);
    return { status: 400, body: { error: "Unknown interaction" } };
  };
};

const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

const replyWith = (message: Message): Reply => ({
  status: 200,
  body: { type: answer, data: { ...message, flags: seenByUserAlone } },
});

const text = (content: string): Message => ({ content, components: [] });

/** Returns a row with one button, which opens the URL. */
const button = (url: string) => ({ type: 1, components: [{ type: 2, style: 5, label: "Verify", url }] });

const refusalOf = (error: unknown): AccountLinkError => {
  if (error instanceof AccountLinkError) return error;
  throw error;
};

const refusalText = ({ retryAfter }: AccountLinkError) =>
  retryAfter === null ? "You cannot verify here." : `Try again in ${retryAfter} seconds.`;

const timeOver = "The time is over. Type /verify to begin again.";

const linkedText = ({ gameId, linkChanged, previousGameId }: VerificationSession): string => {
  // If the user chose to keep the previous account, the session also completes, but the link does not change.
  if (!linkChanged)
    return previousGameId === null
      ? `You keep your link to ${gameId}.`
      : `You are linked to ${gameId}, as before.`;
  return `You are linked to ${gameId}${previousGameId === null ? "" : `, and no longer to ${previousGameId}`}.`;
};

/** The text for the last state of a session. The stream ends at a final state, but the type requires every state. */
const endings: Readonly<Record<VerificationSession["state"], (session: VerificationSession) => string>> = {
  pending: () => timeOver,
  opened: () => timeOver,
  expired: () => timeOver,
  completed: linkedText,
  cancelled: () => "You cancelled, so nothing was linked. Type /verify to begin again.",
  failed: () => "Your link was removed meanwhile, so nothing was linked. Type /verify to begin again.",
};

const endingOf = async (changes: AsyncIterable<VerificationSession>): Promise<string> => {
  try {
    let last: VerificationSession | null = null;
    for await (const session of changes) last = session;
    if (last === null) return "The verification cannot be followed. Type /verify to see where it stands.";
    return endings[last.state](last);
  } catch (error) {
    if (error instanceof AccountLinkError && error.code === "SESSION_EXPIRED") return timeOver;
    return "The verification cannot be followed. Type /verify to see where it stands.";
  }
};

const maxBody = 65_536;

const read = async (request: IncomingMessage): Promise<SignedRequest | null> => {
  const chunks: Array<Uint8Array> = [];
  for await (const chunk of request) {
    chunks.push(chunk as Uint8Array);
    if (chunks.reduce((size, { length }) => size + length, 0) > maxBody) return null;
  }
  const header = (name: string) => String(request.headers[name] ?? "");
  return {
    signature: header("x-signature-ed25519"),
    timestamp: header("x-signature-timestamp"),
    body: Buffer.concat(chunks),
  };
};

const serve = async (settings: BotSettings, port: number): Promise<string> => {
  const bot = await makeBot(settings);

  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const request = await read(incoming);
    const reply: Reply = request === null ? { status: 413, body: {} } : await bot(request);
    outgoing.writeHead(reply.status, { "content-type": "application/json" });
    outgoing.end(JSON.stringify(reply.body));
    await reply.afterwards?.();
  };

  const server = createServer((incoming, outgoing) => {
    respond(incoming, outgoing).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      if (!outgoing.headersSent) outgoing.writeHead(500).end();
    });
  });
  server.listen(port);
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : port}`;
};

if (import.meta.main) {
  const { env } = process;
  const settings = {
    client: createClient({ url: env.ACCOUNTLINK_URL ?? "", key: env.ACCOUNTLINK_KEY ?? "" }),
    discordUrl: env.DISCORD_URL ?? "https://discord.com/api/v10",
    publicKey: env.DISCORD_PUBLIC_KEY ?? "",
  };
  process.stdout.write(`listening on ${await serve(settings, Number(env.PORT ?? 8081))}\n`);
}
