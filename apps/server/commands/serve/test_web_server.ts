/**
 * For tests: the services of `serve` behind a web handler, to which somebody else's server passes its requests.
 */
import { createServer } from "node:http";
import { makeWebHandler, PageSettings } from "@accountlink/http";
import { docs } from "@accountlink/http/docs";
import { getRequestListener } from "@hono/node-server";
import { Console, Context, Effect, Layer } from "effect";
import { Invocation } from "../../cli/invocation.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { pageSettingsOf } from "../../config/page_settings.ts";
import { resolveConfig } from "../../config/resolved_config.ts";
import { prepareFolder } from "../../files/data_folder.ts";
import { uploadFolder } from "../../files/upload_folder.ts";
import { loadStartupFixture, readStartupFixture } from "../../fixture/startup_fixture.ts";
import { networksLayer } from "../../layers/networks_layer.ts";
import { serviceLayer } from "../../layers/service_layer.ts";
import { claimPort } from "../../listening/port.ts";
import { resolveSecrets } from "../../secrets/deployment_secret.ts";
import { loggingLayer } from "../../telemetry/logging.ts";

/** Serves until it is interrupted. */
export const runWebServer = Effect.gen(function* () {
  const config = yield* readConfig((yield* Invocation).environment);
  process.exitCode = 0;
  return yield* Effect.scoped(startWebServer(config)).pipe(
    Effect.provide(loggingLayer(config.ACCOUNTLINK_LOG_LEVEL)),
  );
});

const startWebServer = Effect.fnUntraced(function* (config: Config) {
  const resolved = yield* resolveConfig(config);
  const { storage } = resolved;
  const fixture = yield* readStartupFixture(resolved);
  if (storage.kind === "embedded") yield* prepareFolder(config, storage.folder);
  const secrets = yield* resolveSecrets(resolved);

  const address = { host: config.ACCOUNTLINK_HOST, port: config.ACCOUNTLINK_PORT };
  const port = yield* claimPort("ACCOUNTLINK_PORT", address);
  const publicUrl = config.ACCOUNTLINK_PUBLIC_URL ?? port.url;

  const services = yield* Layer.build(
    serviceLayer(resolved, secrets, fixture.platform, publicUrl).pipe(
      Layer.provideMerge(networksLayer(config, fixture.vpnCidrs)),
      Layer.provideMerge(Layer.succeed(PageSettings, pageSettingsOf(config))),
    ),
  );
  yield* Effect.provideContext(loadStartupFixture(fixture), services);
  const context = yield* Effect.context();
  const web = makeWebHandler(Layer.succeedContext(Context.merge(context, services)), {
    publicUrl,
    clientAddress: "given",
    trustedProxies: config.ACCOUNTLINK_TRUSTED_PROXIES.map(String),
    metrics: true,
    docs,
    uploads: uploadFolder,
  });
  yield* Effect.addFinalizer(() => Effect.promise(web.close));
  const listener = getRequestListener(
    (request, { incoming }) => web.fetch(request, { clientAddress: incoming.socket.remoteAddress }),
    { overrideGlobalObjects: false },
  );
  const node = createServer((request, response) => void listener(request, response));
  yield* Effect.acquireRelease(port.open(node), () => Effect.sync(() => node.close()));
  yield* Console.log(`listening on ${port.url}`);
  return yield* Effect.never;
});
