/** Names the fault of a server's certificate that was refused. */
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { certificateCode, certificateProblem } from "@accountlink/core";
import { Effect } from "effect";
import type { ParsedPostgresUrl } from "./url.ts";

/** Asks a server for TLS: a length of 8 bytes, then a code. https://www.postgresql.org/docs/current/protocol-flow.html */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

const timeout = 2_000;

const presented = ({ address, ssl }: ParsedPostgresUrl) =>
  Effect.callback<ReturnType<ReturnType<typeof connectTls>["getPeerCertificate"]> | null>((resume) => {
    const socket = connect(address);
    const end = (found: Parameters<typeof resume>[0]) => {
      socket.destroy();
      resume(found);
    };
    socket.setTimeout(timeout, () => end(Effect.succeed(null)));
    socket.once("error", () => end(Effect.succeed(null)));
    socket.once("connect", () => socket.write(sslRequest));
    socket.once("data", () => {
      const secure = connectTls({ ...(ssl === false ? {} : ssl), socket, rejectUnauthorized: false });
      secure.once("error", () => end(Effect.succeed(null)));
      secure.once("secureConnect", () => end(Effect.succeed(secure.getPeerCertificate())));
    });
    return Effect.sync(() => socket.destroy());
  });

/** Whether an error is about a certificate, which does not mend itself while a start waits. */
export const isCertificateError = (message: string): boolean => certificateCode.test(message);

/** Returns an error that names the fault of the certificate, if an error is about it. */
export const explained = Effect.fnUntraced(function* (url: ParsedPostgresUrl, message: string) {
  const [code] = certificateCode.exec(message) ?? [];
  if (code === undefined || "path" in url.address) return null;
  const certificate = yield* presented(url);
  if (certificate === null) return null;
  const { host = "localhost", port } = url.address;
  const about = { code, host, server: `${host}:${port}`, setting: "sslrootcert" };
  return new Error(certificateProblem(about, certificate));
});
