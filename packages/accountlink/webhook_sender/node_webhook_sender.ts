/**
 * `WebhookSender` on Node's HTTP client, which follows no redirects and ignores proxies of the environment.
 *
 * It resolves names itself and connects only to addresses that it checked, so changing the address of a name after the
 * check does not help an attacker.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { Millis } from "@accountlink/core/timestamp";
import {
  type WebhookAnswer,
  type WebhookRequest,
  WebhookSender,
  WebhookUnanswered,
} from "@accountlink/core/webhooks";
import { Clock, type Duration, Effect, Layer } from "effect";
import type { IpNetwork } from "effect/net";
import { type Resolve, resolvePrivate, resolvePublic, targetsOf } from "./targets.ts";

/** Milliseconds that an attempt may take. */
const deadline = 10_000;

/** How long the creation of a webhook waits for the addresses of its host. */
const resolveTimeout = "2 seconds";

/**
 * The number of 1xx responses at which an attempt fails: each response costs processor time, and a receiver could send
 * them forever.
 */
const mostInformational = 5;

/** Milliseconds after which the sender closes an idle connection, before most receivers would close the connection. */
const idleTimeout = 4_000;

export interface NodeWebhookSenderOptions {
  /** Private networks that webhooks may reach, over https or http. */
  readonly networks?: ReadonlyArray<IpNetwork.IpNetwork>;
  /**
   * Resolves a host name. The default asks DNS. If `networks` is not empty, the default also asks the operating system
   * for names that DNS does not know.
   */
  readonly resolve?: Resolve;
  /** PEM certificates of the authorities to trust instead of the default ones. */
  readonly authorities?: string;
}

/**
 * Provides a `WebhookSender` on Node's HTTP client.
 *
 * @example
 * ```ts
 * import { WebhookSender } from "@accountlink/core/webhooks";
 * import { Effect } from "effect";
 *
 * const problem = Effect.flatMap(WebhookSender, (sender) => sender.problemOf("https://[::1]/"));
 * const sender = NodeWebhookSender.layer({});
 * await Effect.runPromise(Effect.provide(problem, sender)); // "expected an address of the public internet"
 * ```
 */
export const layer = ({
  networks = [],
  resolve = networks.length === 0 ? resolvePublic : resolvePrivate,
  authorities,
}: NodeWebhookSenderOptions): Layer.Layer<never> =>
  Layer.effect(
    WebhookSender,
    Effect.gen(function* () {
      const settings = { keepAlive: true, maxFreeSockets: 2, timeout: idleTimeout };
      const agents = yield* Effect.acquireRelease(
        Effect.sync(() => ({
          http: new HttpAgent(settings),
          https: new HttpsAgent({ ...settings, ...(authorities === undefined ? {} : { ca: authorities }) }),
        })),
        ({ http, https }) =>
          Effect.sync(() => {
            http.destroy();
            https.destroy();
          }),
      );

      return {
        problemOf: (text) => {
          const url = new URL(text);
          return targetsOf(url, resolve, networks).pipe(
            within(resolveTimeout, "name"),
            Effect.match({
              onSuccess: () => null,
              onFailure: ({ error }) => problemOf(url, error),
            }),
          );
        },

        send: (request) => {
          const url = new URL(request.url);
          return targetsOf(url, resolve, networks).pipe(
            Effect.flatMap(([first = "", ...others]) =>
              others.reduce(
                (attempt, address) =>
                  Effect.catchIf(
                    attempt,
                    ({ error }) => error === "connection",
                    () => post(agents, request, url, address),
                  ),
                post(agents, request, url, first),
              ),
            ),
            within(deadline, "timeout"),
          );
        },
      };
    }),
  );

const within = (duration: Duration.Input, error: "name" | "timeout") =>
  Effect.timeoutOrElse({ duration, orElse: () => Effect.fail(new WebhookUnanswered({ error })) });

const problemOf = ({ protocol }: URL, error: WebhookUnanswered["error"]): string | null => {
  if (protocol === "http:") return "expected an https URL";
  return error === "address" ? "expected an address of the public internet" : null;
};

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

const post = (
  agents: Agents,
  { headers, body }: WebhookRequest,
  url: URL,
  address: string,
): Effect.Effect<WebhookAnswer, WebhookUnanswered> =>
  Effect.flatMap(Clock.clockWith(Effect.succeed), (clock) =>
    Effect.callback<WebhookAnswer, WebhookUnanswered>((resume) => {
      const isSecure = url.protocol === "https:";
      const hostname = url.hostname.replace(/^\[|\]$/g, "");
      const options = {
        method: "POST",
        host: address,
        port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
        path: url.pathname + url.search,
        headers: { ...headers, host: url.host, "content-length": Buffer.byteLength(body) },
        agent: isSecure ? agents.https : agents.http,
        // TLS does not allow an IP address as the server name.
        ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      };
      let informational = 0;
      const abort = (): void => {
        outgoing.destroy();
        resume(failed({}));
      };
      const outgoing = (isSecure ? httpsRequest : httpRequest)(options)
        .on("information", () => {
          informational++;
          if (informational === mostInformational) abort();
        })
        .on("upgrade", abort)
        .on("response", (incoming: IncomingMessage) => {
          const { statusCode = 0 } = incoming;
          if (statusCode < 200 || statusCode > 599) {
            abort();
            return;
          }
          discardBody(incoming);
          resume(Effect.succeed(answerOf(incoming, clock.currentTimeMillisUnsafe())));
        })
        .on("error", (error: NodeJS.ErrnoException) => {
          // The receiver may have closed an idle connection before this request arrived.
          const wasIdle = outgoing.reusedSocket && error.code === "ECONNRESET";
          resume(wasIdle ? post(agents, { url: url.href, headers, body }, url, address) : failed(error));
        })
        .end(body);
      return Effect.sync(() => outgoing.destroy());
    }),
  );

/** Codes of TLS errors about certificates contain one of these words. */
const isOfCertificate = /CERT|ISSUER|SIGNATURE/;

const failed = ({ code = "" }: Pick<NodeJS.ErrnoException, "code">) =>
  new WebhookUnanswered({ error: isOfCertificate.test(code) ? "certificate" : "connection" });

/** The maximum number of bytes that are read from a body. */
const longestBody = 65_536;

/** Reads the body up to a limit and discards it, so that the connection can be reused. */
const discardBody = (incoming: IncomingMessage): void => {
  let received = 0;
  const late = setTimeout(() => incoming.destroy(), deadline).unref();
  incoming
    .on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (received > longestBody) incoming.destroy();
    })
    .on("close", () => clearTimeout(late))
    // Ignore the error: the status, which decides the result, arrived before the body.
    .on("error", () => {});
};

/** @internal */
export const answerOf = ({ statusCode = 0, headers }: IncomingMessage, now: Millis): WebhookAnswer => ({
  status: statusCode,
  type: headers["content-type"]?.slice(0, 100) ?? null,
  retryAfter: statusCode === 429 || statusCode === 503 ? waitOf(headers["retry-after"], now) : null,
});

/**
 * Parses `Retry-After`, which is a number of seconds or a date. Returns the wait in milliseconds; null if the text is
 * missing or invalid.
 */
const waitOf = (text: string | undefined, now: Millis): number | null => {
  if (text === undefined) return null;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1_000;
  const until = Date.parse(text);
  return Number.isNaN(until) ? null : Math.max(0, until - now);
};
