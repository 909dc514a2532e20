/** For tests: embedded stores with a database that can be closed and reopened. */
import { Connection } from "@accountlink/conformance";
import { AuditLog, EventStore, LinkStore, type StoragePorts } from "@accountlink/core";
import { AltReviewStore, SightingStore } from "@accountlink/core/alts";
import { FlowStore } from "@accountlink/core/flow";
import { IdempotencyStore } from "@accountlink/core/idempotency";
import { KeyStore } from "@accountlink/core/keys";
import { CountLedger } from "@accountlink/core/limits";
import { RootKeyStore } from "@accountlink/core/secrets";
import { SessionStore } from "@accountlink/core/sessions";
import { SignInStore } from "@accountlink/core/sign_ins";
import { UsageStore } from "@accountlink/core/usage";
import { UserStore } from "@accountlink/core/users";
import { WebhookStore } from "@accountlink/core/webhooks";
import { Context, Effect, Exit, Layer, Scope } from "effect";
import { layerEmbedded } from "./embedded.ts";
import { makeTempFolder } from "./test_folder.ts";

export const layerReopening: Layer.Layer<StoragePorts | Connection> = Layer.effectContext(
  Effect.gen(function* () {
    const stores = layerEmbedded({ folder: yield* makeTempFolder });
    const open = Effect.gen(function* () {
      const scope = yield* Scope.make();
      return { scope, ports: yield* Layer.buildWithScope(stores, scope) };
    }).pipe(Effect.orDie);

    let opened = yield* open;
    const close = Effect.suspend(() => Scope.close(opened.scope, Exit.void));
    yield* Effect.addFinalizer(() => close);
    const restore = Effect.map(open, (next) => {
      opened = next;
    });

    return Context.make(Connection, { break: close, restore }).pipe(
      Context.add(
        LinkStore,
        forwarding(() => Context.get(opened.ports, LinkStore)),
      ),
      Context.add(
        KeyStore,
        forwarding(() => Context.get(opened.ports, KeyStore)),
      ),
      Context.add(
        AuditLog,
        forwarding(() => Context.get(opened.ports, AuditLog)),
      ),
      Context.add(
        CountLedger,
        forwarding(() => Context.get(opened.ports, CountLedger)),
      ),
      Context.add(
        SessionStore,
        forwarding(() => Context.get(opened.ports, SessionStore)),
      ),
      Context.add(
        EventStore,
        forwarding(() => Context.get(opened.ports, EventStore)),
      ),
      Context.add(
        WebhookStore,
        forwarding(() => Context.get(opened.ports, WebhookStore)),
      ),
      Context.add(
        FlowStore,
        forwarding(() => Context.get(opened.ports, FlowStore)),
      ),
      Context.add(
        IdempotencyStore,
        forwarding(() => Context.get(opened.ports, IdempotencyStore)),
      ),
      Context.add(
        SignInStore,
        forwarding(() => Context.get(opened.ports, SignInStore)),
      ),
      Context.add(
        RootKeyStore,
        forwarding(() => Context.get(opened.ports, RootKeyStore)),
      ),
      Context.add(
        SightingStore,
        forwarding(() => Context.get(opened.ports, SightingStore)),
      ),
      Context.add(
        AltReviewStore,
        forwarding(() => Context.get(opened.ports, AltReviewStore)),
      ),
      Context.add(
        UserStore,
        forwarding(() => Context.get(opened.ports, UserStore)),
      ),
      Context.add(
        UsageStore,
        forwarding(() => Context.get(opened.ports, UsageStore)),
      ),
    );
  }),
);

type Operation = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>;

/** Forwards each operation to the current port. */
const forwarding = <Port extends object>(current: () => Port): Port =>
  new Proxy(current(), {
    get:
      (_, name): Operation =>
      (...args) =>
        Effect.suspend(() => (Reflect.get(current(), name) as Operation)(...args)),
  });
