/**
 * Documents that are the same for every client. Each is compressed once, and sent to all of them from the same bytes:
 * however many clients read slowly, they share one buffer.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type HttpServerRequest, HttpServerResponse } from "effect/http";

/** Answers a GET or HEAD with the document, or with 304 to a client that has it. */
export type StaticDocument = (
  request: HttpServerRequest.HttpServerRequest,
) => HttpServerResponse.HttpServerResponse;

export interface StaticDocumentOptions {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Set for what only browsers read, which all take gzip: nothing else is kept or sent. */
  readonly onlyCompressed?: true;
}

const compress = promisify(gzip);

/** Makes a document of its text. */
export const makeStaticDocument = async (
  text: string,
  { contentType, headers = {}, onlyCompressed }: StaticDocumentOptions,
): Promise<StaticDocument> => {
  const hash = createHash("sha256").update(text).digest("base64url").slice(0, 22);
  const common = { ...headers, ...documentHeaders };
  const compressed = representation(await compress(text, { level: 9 }), `"${hash}-gzip"`, contentType, {
    ...common,
    "content-encoding": "gzip",
  });
  const plain =
    onlyCompressed === true
      ? compressed
      : representation(Buffer.from(text), `"${hash}"`, contentType, common);
  return ({ headers: sent }) => {
    const { etag, whole, unchanged } = takesGzip(sent["accept-encoding"]) ? compressed : plain;
    return hasTag(sent["if-none-match"], etag) ? unchanged : whole;
  };
};

const documentHeaders = {
  "cache-control": "public, max-age=3600",
  vary: "Accept-Encoding",
  "x-content-type-options": "nosniff",
};

const representation = (
  body: Uint8Array,
  etag: string,
  contentType: string,
  headers: Readonly<Record<string, string>>,
) => ({
  etag,
  whole: HttpServerResponse.uint8Array(body, { contentType, headers: { ...headers, etag } }),
  unchanged: HttpServerResponse.empty({ status: 304, headers: { ...documentHeaders, etag } }),
});

/** Whether an `Accept-Encoding` names gzip, or everything, with a weight above 0. */
const takesGzip = (accepted = ""): boolean => {
  const weights = new Map(
    accepted.split(",").map((entry) => {
      const [coding = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return [coding, weight === undefined ? 1 : Number(weight.slice(2))] as const;
    }),
  );
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
};

/** Whether an `If-None-Match` names the tag. */
const hasTag = (sent: string | undefined, etag: string): boolean =>
  sent !== undefined && sent.split(",").some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim()));
