/** For tests: serves like `serve`, but through a web handler, as an embedder with its own HTTP server would. */
import { createServer } from "node:http";
import { HttpSettings, makeWebHandler, type WebHandlerServices } from "@accountlink/http";
import { makePages, type PageServices, PageSettings } from "@accountlink/pages";
import { ChatSettings, LogCouriers, layerPlanNotices, layerReminders } from "@accountlink/pages/chat";
import { docs } from "@accountlink/pages/docs";
import { getRequestListener } from "@hono/node-server";
import { Context, Effect, Layer } from "effect";
import { givenConfig } from "../../cli/invocation.ts";
import type { Config } from "../../config/config.ts";
import { chatSettingsOf, pageSettingsOf } from "../../config/page_settings.ts";
import { resolveConfig } from "../../config/resolved_config.ts";
import type { Port } from "../../listening/port.ts";
import { loggingLayer } from "../../telemetry/logging.ts";
import { startService } from "./server.ts";

export const runWebServer = Effect.gen(function* () {
  const config = yield* givenConfig;
  process.exitCode = 0;
  const resolved = yield* resolveConfig(config);
  return yield* startService(resolved, ({ port, publicUrl }) => serveWeb(config, port, publicUrl)).pipe(
    Effect.scoped,
    Effect.provide(loggingLayer(config)),
  );
});

const serveWeb = Effect.fnUntraced(function* (config: Config, port: Port, publicUrl: string) {
  const services = yield* Effect.context<WebHandlerServices | PageServices>();
  const withPages = services.pipe(
    Context.add(PageSettings, pageSettingsOf(config)),
    Context.add(ChatSettings, chatSettingsOf(config)),
  );
  const web = makeWebHandler(Layer.succeedContext(withPages), {
    pages: makePages,
    publicUrl,
    clientAddress: "given",
    trustedProxies: config.ACCOUNTLINK_TRUSTED_PROXIES.map(String),
    metrics: true,
    docs,
  });
  const settings = Layer.succeed(HttpSettings, { publicUrl, trustedProxies: [] });
  yield* Layer.build(
    Layer.provide(Layer.mergeAll(LogCouriers.layer, layerReminders, layerPlanNotices), settings),
  );
  yield* Effect.addFinalizer(() => Effect.promise(web.close));
  const listener = getRequestListener(
    (request, { incoming }) => web.fetch(request, { clientAddress: incoming.socket.remoteAddress }),
    { overrideGlobalObjects: false },
  );
  const node = createServer((request, response) => void listener(request, response));
  yield* Effect.acquireRelease(port.open(node), () => Effect.sync(() => node.close()));
});
