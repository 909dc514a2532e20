import { Effect } from "effect";
import { type HttpRequest, HttpResponse } from "./http_app.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Encode = (bytes: Bytes) => Promise<Uint8Array>;
type Done = (error: Error | null, encoded: Uint8Array) => void;

/** The part of `node:zlib` that this file uses. `node:zlib` compresses twice as fast as a `CompressionStream`. */
interface Zlib {
  readonly gzip: (bytes: Bytes, done: Done) => void;
  readonly brotliCompress: (
    bytes: Bytes,
    options: { readonly params: Readonly<Record<number, number>> },
    done: Done,
  ) => void;
  readonly constants: { readonly BROTLI_PARAM_QUALITY: number };
}

const { process } = globalThis as {
  readonly process?: { readonly getBuiltinModule?: (id: "node:zlib") => Zlib | undefined };
};
const zlib = process?.getBuiltinModule?.("node:zlib");

const promised =
  (encode: (bytes: Bytes, done: Done) => void): Encode =>
  (bytes) =>
    new Promise((resolve, reject) =>
      encode(bytes, (error, encoded) => (error === null ? resolve(encoded) : reject(error))),
    );

export const gzip: Encode =
  zlib === undefined
    ? async (bytes) => {
        const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
        return new Uint8Array(await new Response(stream).arrayBuffer());
      }
    : promised(zlib.gzip);

/** With a higher quality, Brotli takes many times as long as gzip. */
const brotliQuality = 4;

/** The encodings by name. If a client accepts several equally, the first one is used. */
const encodings: Readonly<Record<string, Encode>> =
  zlib === undefined
    ? { gzip }
    : {
        br: promised((bytes, done) => {
          const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: brotliQuality };
          zlib.brotliCompress(bytes, { params }, done);
        }),
        gzip,
      };

/** The longest `Accept-Encoding` that is read, in characters. One of 16 kB takes 13 ms. */
const longestAccepted = 1_000;

/** Picks the encoding with the highest weight in an `Accept-Encoding`; undefined if none is accepted. */
export const acceptedEncoding = <Name extends string>(
  names: ReadonlyArray<Name>,
  accepted = "",
): Name | undefined => {
  if (accepted.length > longestAccepted) return undefined;
  const weights = new Map(
    accepted.split(",").map((entry) => {
      const [coding = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return [coding, weight === undefined ? 1 : Number(weight.slice(2))] as const;
    }),
  );
  const weightOf = (name: Name) => weights.get(name) ?? weights.get("*") ?? 0;
  return names
    .filter((name) => weightOf(name) > 0)
    .toSorted((one, other) => weightOf(other) - weightOf(one))[0];
};

/** The length in characters above which a body is compressed. */
export const maxUncompressed = 1_024;

const encoder = new TextEncoder();

/** Compresses the text of a response, if the client accepts it. */
export const compressed = (
  request: HttpRequest,
  { status, headers }: HttpResponse,
  text: string,
): Effect.Effect<HttpResponse> => {
  const name = acceptedEncoding(Object.keys(encodings), request.header("accept-encoding"));
  const encode = name === undefined ? undefined : encodings[name];
  const varying = { ...headers, vary: "Accept-Encoding" };
  if (name === undefined || encode === undefined) {
    return Effect.succeed(new HttpResponse(status, varying, text));
  }
  return Effect.map(
    Effect.promise(() => encode(encoder.encode(text))),
    (bytes) => new HttpResponse(status, { ...varying, "content-encoding": name }, bytes),
  );
};
