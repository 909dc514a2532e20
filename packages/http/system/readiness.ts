import { KeyStore } from "@accountlink/core/keys";
import { Secrets } from "@accountlink/core/secrets";
import { Context, Effect, Layer } from "effect";

/** The health of the dependencies, for `/readyz`. */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** The ID of the deployment, which `/readyz` shows. */
    readonly deployment: string;
    /** Names of unavailable dependencies that the service needs. */
    readonly failing: Effect.Effect<ReadonlyArray<string>>;
    /** Names of unavailable dependencies that the service can do without. */
    readonly degraded: Effect.Effect<ReadonlyArray<string>>;
  }
>()("@accountlink/http/Readiness") {
  /** Ready if the storage answers within a second. */
  static readonly layerStorage = Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const keys = yield* KeyStore;
      const { deploymentId } = yield* Secrets;
      return Readiness.of({
        deployment: deploymentId,
        failing: keys.findAccount("").pipe(
          Effect.timeout("1 second"),
          Effect.as([]),
          Effect.catch(() => Effect.succeed(["storage"])),
        ),
        degraded: Effect.succeed([]),
      });
    }),
  );
}
