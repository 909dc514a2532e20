/**
 * A `Secrets` service that remembers results, so that repeated calls return synchronously. Web Crypto is asynchronous,
 * and a test clock does not wait for it: a long poll that is still hashing its session ID would not notice that the
 * clock was adjusted.
 */
import { Secrets } from "@accountlink/core/secrets";
import { Effect, Layer, Redacted } from "effect";

const remembered = <Input, Output>(compute: (input: Input) => Effect.Effect<Output>) => {
  const known = new Map<Input, Output>();
  return (input: Input): Effect.Effect<Output> =>
    Effect.suspend(() => {
      const output = known.get(input);
      if (output !== undefined) return Effect.succeed(output);
      return Effect.tap(compute(input), (computed) => Effect.sync(() => known.set(input, computed)));
    });
};

const secret = Redacted.make(new Uint8Array(32).fill(7));

/**
 * The `Secrets` service with a fixed root key, which is the same in every memory world.
 *
 * @example
 * ```ts
 * import { Secrets } from "@accountlink/core/secrets";
 * import { Effect } from "effect";
 *
 * const hash = Secrets.use(({ keyHash }) => keyHash("alk_…"));
 * const [one, other] = [hash, hash].map((each) => Effect.provide(each, MemoryWorld.secrets));
 * if (one === undefined || other === undefined) throw new Error();
 * (await Effect.runPromise(one)) === (await Effect.runPromise(other)); // true
 * ```
 */
export const secrets: Layer.Layer<Secrets> = Layer.effect(
  Secrets,
  Effect.map(Secrets, (slow) => ({
    ...slow,
    keyHash: remembered(slow.keyHash),
    sessionId: remembered(slow.sessionId),
  })),
).pipe(Layer.provide(Secrets.layerWebCrypto(secret)));
