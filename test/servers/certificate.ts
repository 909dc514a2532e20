import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
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

/**
 * Makes a self-signed certificate, for 127.0.0.1 by default. Its files are removed when the scope closes.
 *
 * @param days how long it holds; it is over if that is negative
 */
export const makeCertificateFor = Effect.fnUntraced(function* ({
  name = "IP:127.0.0.1",
  days = 1,
}: {
  readonly name?: string;
  readonly days?: number;
}) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "accountlink-certificate-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true })),
  );
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  // An RSA key would take half a second to make.
  const elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const request = join(folder, "request.pem");
  // OpenSSL looks for an authority by its name, so each has its own.
  const asked = [
    "-new",
    ...elliptic,
    "-nodes",
    "-keyout",
    key,
    "-out",
    request,
    "-subj",
    `/CN=${basename(folder)}`,
  ];
  yield* Effect.promise(async () => {
    await run("openssl", ["req", ...asked, "-addext", `subjectAltName=${name}`]);
    const signed = ["-in", request, "-signkey", key, "-days", `${days}`, "-out", certificate];
    await run("openssl", ["x509", "-req", "-copy_extensions", "copy", ...signed]);
  });
  return { certificate, key, authority: yield* Effect.promise(() => readFile(certificate, "utf8")) };
});

/** Makes a self-signed certificate for 127.0.0.1. */
export const makeCertificate = makeCertificateFor({});
