/**
 * The HTTP application inside a server that also does other things: as a function from `Request` to `Response`, and as
 * a listener for Node's HTTP server.
 */
import { parseAddress, parseNetwork } from "@accountlink/core/addresses";
import { InternalError } from "@accountlink/core/errors";
import { EventWatch } from "@accountlink/core/events";
import type { KeyStore } from "@accountlink/core/keys";
import { isOrigin } from "@accountlink/core/origin";
import type { Secrets } from "@accountlink/core/secrets";
import { SessionWatch } from "@accountlink/core/sessions";
import { Context, Effect, FiberSet, Layer, ManagedRuntime, Option, type Scope } from "effect";
import { makeHttpApp } from "../app.ts";
import type { HttpApp } from "../http_app.ts";
import { makeNodeListener, type NodeRequest, type NodeResponse } from "../node/node_listener.ts";
import type { MakePages } from "../pages.ts";
import { HttpSettings, type HttpSettingsShape } from "../settings.ts";
import { Readiness } from "../system/system_routes.ts";
import { type Fetch, makeFetch, OpenRequests } from "./make_fetch.ts";

/** Where users reach the handler, how it learns their addresses, and what it serves. */
export interface WebHandlerOptions<R = never> extends Pick<HttpSettingsShape, "docs"> {
  /** The origin where users reach the server, such as `https://links.example`. */
  readonly publicUrl: string;

  /** The path at which the server mounts the handler, such as `/links`; by default, the handler serves all paths. */
  readonly basePath?: string;

  /**
   * `"given"`: each call passes the client's IP address; `nodeListener` uses the address of the socket by default.
   * `"none"`: no call passes an address. The limits of keys still apply, but wrong keys are not throttled, keys with
   * address lists are refused, and flows store no address for alt detection.
   */
  readonly clientAddress: "given" | "none";

  /** Addresses and CIDRs of proxies whose `X-Forwarded-For` names the client. */
  readonly trustedProxies?: ReadonlyArray<string>;

  /** Whether `/metrics` is served; false if left out. */
  readonly metrics?: boolean;

  /** `makePages` of `@accountlink/pages`; without it, no pages are served. */
  readonly pages?: MakePages<R>;
}

/** Answers requests as a `fetch` function or as a listener of Node's HTTP server, until it is closed. */
export interface WebHandler {
  /**
   * Answers a request. The first request starts the services, and so does a request after a failed start; if the start
   * fails, the promise rejects with the layer's error. After `close` it rejects too.
   *
   * Aborting the request's signal stops the work, including a long poll or stream.
   *
   * @param info the client's IP address, as the server's connection reports it
   */
  readonly fetch: Fetch;

  /**
   * Answers a request of Node's HTTP server, standalone or under a framework such as Express or Fastify. It starts the
   * services like `fetch`. If they cannot start, it logs the error and answers 503; after `close` it answers 503 too.
   *
   * It reads the body, so register it before body parsers, or after one that keeps the bytes as `rawBody`.
   *
   * @param info the client's IP address, by default the socket's; ignored if it is a function, as Express passes
   */
  readonly nodeListener: (
    request: NodeRequest,
    response: NodeResponse,
    info?: { readonly clientAddress?: string | undefined } | ExpressNext,
  ) => void;

  /**
   * Ends long polls and streams, waits up to 10 seconds for other requests, and stops the services. It leaves no timer
   * or connection behind, so the process can exit.
   */
  readonly close: () => Promise<void>;
}

/** The function `next` that Express passes as the third argument. */
interface ExpressNext {
  (error?: unknown): void;
  readonly clientAddress?: undefined;
}

/** The services that the layer passed to `makeWebHandler` must provide. */
export type WebHandlerServices =
  | Exclude<Effect.Services<ReturnType<typeof makeHttpApp<never>>>, HttpSettings | Readiness | Scope.Scope>
  | KeyStore
  | Secrets
  | SessionWatch
  | EventWatch;

/**
 * Makes a request handler. Nothing runs before the first request, as edge workers require.
 *
 * @param layer the services of core, as built by `AccountLink.layerWeb` and `AccountLink.layerWebCrypto`; it may
 * contain `PageSettings` of `@accountlink/pages`
 * @throws `TypeError` for invalid options
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
export const makeWebHandler = <E, R = never>(
  layer: Layer.Layer<WebHandlerServices | Exclude<R, HttpSettings | Scope.Scope>, E>,
  options: WebHandlerOptions<R>,
): WebHandler => {
  const settings = settingsOf(options);
  const listening = Layer.effect(Listeners, makeListeners(settings, options.pages)).pipe(
    Layer.provide(Readiness.layerStorage),
    Layer.provide(Layer.succeed(HttpSettings, settings)),
    Layer.provide(layer),
    // The cast is necessary, because the compiler cannot infer that these layers provide all services in R.
  ) as Layer.Layer<Listeners, E>;
  let runtime: ManagedRuntime.ManagedRuntime<Listeners, E> | undefined;
  let started: Listeners["Service"] | undefined;
  let isClosed = false;

  const start = async () => {
    if (isClosed) throw new Error("Cannot serve the request: the web handler is closed");
    const starting = (runtime ??= ManagedRuntime.make(listening));
    try {
      started = await starting.runPromise(Listeners);
      return started;
    } catch (error) {
      // The start failed: let the next request start the services again.
      if (runtime === starting) runtime = undefined;
      throw error;
    }
  };

  /** Returns the started listeners without a promise; undefined before the first start and after `close`. */
  const listeners = () => (isClosed ? undefined : started);

  return {
    fetch: (request, info) =>
      listeners()?.fetch(request, info) ?? start().then(({ fetch }) => fetch(request, info)),
    nodeListener: (request, response, info) => {
      const ready = listeners();
      if (ready !== undefined) return ready.nodeListener(request, response, info);
      void start().then(
        ({ nodeListener }) => nodeListener(request, response, info),
        (error: unknown) => {
          if (!isClosed) Effect.runFork(Effect.logError("Cannot start the services", error));
          response.writeHead(503, { connection: "close", "content-length": "0" });
          response.end();
        },
      );
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
}: WebHandlerOptions<unknown>): HttpSettingsShape => {
  if (!URL.canParse(publicUrl) || !isOrigin(publicUrl.replace(/\/$/, ""))) {
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

/** The functions that answer requests once the services have started. */
class Listeners extends Context.Service<Listeners, Pick<WebHandler, "fetch" | "nodeListener">>()(
  "@accountlink/http/Listeners",
) {}

const makeListeners = Effect.fnUntraced(function* <R>(
  settings: HttpSettingsShape,
  pages: MakePages<R> | undefined,
) {
  const whole = yield* makeHttpApp(pages === undefined ? {} : { pages });
  const app = settings.withoutAddresses === true ? whole : addressed(whole);
  const stop = Effect.all([(yield* SessionWatch).stop, (yield* EventWatch).stop]);
  const requests = new OpenRequests();
  const running = yield* FiberSet.make();
  const nodeListener = yield* makeNodeListener(app);
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(stop, (goOn) =>
      Effect.andThen(Effect.timeoutOption(requests.ended, "10 seconds"), Effect.all(goOn)),
    ),
  );
  return Listeners.of({
    fetch: makeFetch(app, requests, running, yield* Effect.context()),
    nodeListener: (request, response, info) => {
      nodeListener(request, response, info);
      if (!response.writableEnded && !response.destroyed) response.once("close", requests.begin());
    },
  });
});

/** Refuses requests without a client address, because they would share the limits of all other such requests. */
const addressed = (app: HttpApp): HttpApp => ({
  ...app,
  answer: (request) => {
    const { remoteAddress } = request;
    const isText = typeof remoteAddress === "string";
    if (isText && Option.isSome(parseAddress(remoteAddress))) return app.answer(request);
    const shown = isText ? `"${remoteAddress}"` : String(remoteAddress);
    const cause = `clientAddress is ${shown}, expected an IP address`;
    return app.refuse(request, new InternalError({ cause }));
  },
});
