import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Effect } from "effect";
import { skipReason } from "./skip_reason.ts";

const run = promisify(execFile);

/** Returns null if openssl is available, else the reason, for titles of skipped tests. With CI=true, throws instead. */
export const whyNoCertificate = (): Promise<string | null> =>
  run("openssl", ["version"]).then(
    () => null,
    () => skipReason("a certificate", "there is no openssl on PATH"),
  );

/** Makes a self-signed certificate for 127.0.0.1. The files of the certificate are removed when the scope closes. */
export const makeCertificate = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "accountlink-certificate-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true })),
  );
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  // An RSA key would take half a second to make.
  const elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const made = ["-x509", ...elliptic, "-nodes", "-days", "1", "-keyout", key, "-out", certificate];
  yield* Effect.promise(() => run("openssl", ["req", ...made, ...subject]));
  return { certificate, key, authority: yield* Effect.promise(() => readFile(certificate, "utf8")) };
});
