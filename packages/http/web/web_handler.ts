/**
 * The HTTP application as a function from `Request` to `Response`, for a server that has other things too.
 */
import { parseAddress, parseNetwork } from "@accountlink/core/addresses";
import { InternalError } from "@accountlink/core/errors";
import type { KeyStore } from "@accountlink/core/keys";
import type { Secrets } from "@accountlink/core/secrets";
import { SessionWatch } from "@accountlink/core/sessions";
import { Cause, Context, Effect, Exit, Layer, ManagedRuntime, Option, type Scope, Stream } from "effect";
import { makeHttpApp } from "../app.ts";
import type { HttpApp } from "../http_app.ts";
import { type HttpResponse, isStream } from "../http_response.ts";
import { HttpSettings, type HttpSettingsShape } from "../settings.ts";
import { Readiness } from "../system/readiness.ts";
import { OpenRequests } from "./open_requests.ts";
import { toWebResponse, WebRequest } from "./web_request.ts";

/** Options of `makeWebHandler`. */
export interface WebHandlerOptions extends Pick<HttpSettingsShape, "docs"> {
  /** The origin where users reach the server, such as `https://links.example`. */
  readonly publicUrl: string;

  /** The path below which requests are passed on, such as `/links`. Left out: all paths. */
  readonly basePath?: string;

  /**
   * `"given"`: each call of `fetch` has the address of its client. `"none"`: no call has, so wrong
   * keys are not throttled, only the limits of keys apply, keys with lists of addresses are
   * refused, and flows leave no address for alt detection.
   */
  readonly clientAddress: "given" | "none";

  /** Addresses and CIDRs of proxies whose `X-Forwarded-For` names the client. */
  readonly trustedProxies?: ReadonlyArray<string>;

  /** Whether `/metrics` is served. Left out: it is not. */
  readonly metrics?: boolean;
}

/** What a server passes requests to. */
export interface WebHandler {
  /**
   * Answers a request. It starts the services first, if this is the first request or they failed to
   * start; the promise is rejected with the error of the layer if they cannot, and after `close`.
   *
   * When the signal of the request aborts, the work for it ends, as does a long poll or stream.
   *
   * @param info the IP address of the client, as the server's connection has it
   */
  readonly fetch: (
    request: Request,
    info?: { readonly clientAddress?: string | undefined },
  ) => Promise<Response>;

  /**
   * Ends long polls and streams, waits for the other requests, at most 10 seconds, and stops the
   * services. It keeps no timer and no connection, so that the process may exit.
   */
  readonly close: () => Promise<void>;
}

/** What the handler requires of its layer. */
export type WebHandlerServices =
  | Exclude<Effect.Services<typeof makeHttpApp>, HttpSettings | Readiness | Scope.Scope>
  | KeyStore
  | Secrets
  | SessionWatch;

/**
 * Makes a handler of requests. Nothing runs before the first one, as workers demand.
 *
 * @param layer the services of core, as `AccountLink.layerWeb` and `AccountLink.layerWebCrypto` make
 *   them; it may contain `PageSettings`
 * @throws `TypeError` for invalid options
 *
 * @example
 * ```ts
 * import { MemoryWorld } from "@accountlink/testing";
 *
 * const options = { publicUrl: "https://links.example", basePath: "/links", clientAddress: "none" } as const;
 * const { fetch, close } = makeWebHandler(MemoryWorld.layer(), options);
 * (await fetch(new Request("https://links.example/links/v2/chat?chatId=100001"))).status; // 401
 * await close();
 * ```
 */
export const makeWebHandler = <E>(
  layer: Layer.Layer<WebHandlerServices, E>,
  options: WebHandlerOptions,
): WebHandler => {
  const settings = settingsOf(options);
  const started = Layer.effect(Handler, makeHandler(settings)).pipe(
    Layer.provide(Readiness.layerStorage),
    Layer.provide(Layer.succeed(HttpSettings, settings)),
    Layer.provide(layer),
  );
  let runtime: ManagedRuntime.ManagedRuntime<Handler, E> | undefined;
  let isClosed = false;

  const handler = async () => {
    if (isClosed) throw new Error("Cannot serve the request: the web handler is closed");
    const starting = (runtime ??= ManagedRuntime.make(started));
    try {
      return await starting.runPromise(Handler);
    } catch (error) {
      // The next request starts the services again.
      if (runtime === starting) runtime = undefined;
      throw error;
    }
  };

  return {
    fetch: async (request, info) => {
      const handle = await handler();
      return handle(request, info?.clientAddress);
    },
    close: async () => {
      isClosed = true;
      await runtime?.dispose();
    },
  };
};

const settingsOf = ({
  publicUrl,
  basePath = "",
  clientAddress,
  trustedProxies = [],
  metrics = false,
  docs,
}: WebHandlerOptions): HttpSettingsShape => {
  if (!URL.canParse(publicUrl) || new URL(publicUrl).origin !== publicUrl.replace(/\/$/, "")) {
    refuse("publicUrl", publicUrl, 'an origin such as "https://links.example", and its path as "basePath"');
  }
  if (!/^(?:\/[\w.~-]+)*\/?$/.test(basePath)) {
    refuse("basePath", basePath, 'a path such as "/links"');
  }
  if (clientAddress !== "given" && clientAddress !== "none") {
    refuse("clientAddress", clientAddress, '"given", and the address with each request, or "none"');
  }
  return {
    publicUrl: `${publicUrl.replace(/\/$/, "")}${basePath.replace(/\/$/, "")}`,
    trustedProxies: trustedProxies.map((proxy) =>
      Option.getOrElse(parseNetwork(proxy), () => refuse("trustedProxies", proxy, "IP addresses and CIDRs")),
    ),
    metricsElsewhere: !metrics,
    withoutAddresses: clientAddress === "none",
    ...(docs === undefined ? {} : { docs }),
  };
};

const refuse = (option: string, value: unknown, expected: string): never => {
  const shown = typeof value === "string" ? `"${value}"` : String(value);
  throw new TypeError(`Cannot make the web handler: ${option} is ${shown}, expected ${expected}`);
};

type Handle = (request: Request, clientAddress: string | undefined) => Promise<Response>;

/** The handler, while the services run. */
class Handler extends Context.Service<Handler, Handle>()("@accountlink/http/WebHandler") {}

const makeHandler = Effect.fnUntraced(function* (settings: HttpSettingsShape) {
  const app = yield* makeHttpApp;
  const { stop } = yield* SessionWatch;
  const requests = new OpenRequests();
  yield* Effect.addFinalizer(() => Effect.andThen(stop, Effect.timeoutOption(requests.ended, "10 seconds")));
  const context = yield* Effect.context();
  const run = Effect.runForkWith(context);
  const answerOf = settings.withoutAddresses === true ? app.answer : addressed(app);

  return (request: Request, clientAddress: string | undefined): Promise<Response> => {
    const { method, signal } = request;
    const done = requests.begin();
    const fiber = run(answerOf(new WebRequest(request, clientAddress)));
    const answer = (exit: Exit.Exit<HttpResponse>): Response => {
      if (Exit.isFailure(exit)) {
        done();
        if (Cause.hasInterruptsOnly(exit.cause)) return new Response(null, { status: clientClosedRequest });
        throw Cause.squash(exit.cause);
      }
      const { body } = exit.value;
      if (!isStream(body)) {
        done();
        return toWebResponse(exit.value, method, null);
      }
      const ending = Effect.ensuring(body.release, Effect.sync(done));
      const chunks = method === "HEAD" ? Stream.empty : body.chunks;
      const web = Stream.toReadableStreamWith(Stream.ensuring(chunks, ending), context, { signal });
      return toWebResponse(exit.value, method, web);
    };
    const exit = fiber.pollUnsafe();
    if (exit !== undefined) return Promise.resolve(answer(exit));
    const interrupt = () => fiber.interruptUnsafe();
    if (signal.aborted) interrupt();
    else signal.addEventListener("abort", interrupt, { once: true });
    return new Promise((resolve, reject) => {
      fiber.addObserver((late) => {
        signal.removeEventListener("abort", interrupt);
        try {
          resolve(answer(late));
        } catch (defect) {
          reject(defect);
        }
      });
    });
  };
});

/** What servers note for a client that went away before its response. */
const clientClosedRequest = 499;

/** Refuses requests without the address of their client. They would share the limits of all others. */
const addressed =
  (app: HttpApp): HttpApp["answer"] =>
  (request) => {
    const { remoteAddress } = request;
    if (Option.isSome(parseAddress(remoteAddress ?? ""))) return app.answer(request);
    const shown = remoteAddress === undefined ? remoteAddress : `"${remoteAddress}"`;
    const cause = `clientAddress is ${shown}, expected an IP address`;
    return app.refuse(request, new InternalError({ cause }));
  };
