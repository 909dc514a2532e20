/** Structured logs: one JSON object per line on standard error, without keys and addresses. */
import { redact } from "@accountlink/core/addresses";
import { Formatter, Layer, Logger, type LogLevel, Redacted, References } from "effect";
import type { Config } from "../config/config.ts";
import { printable } from "../message_text.ts";
import { captureWarnings } from "./capture_warnings.ts";
import { deduplicatedLogger } from "./deduplicated_logger.ts";

type Urls = Pick<Config, "ACCOUNTLINK_DATABASE_URL" | "ACCOUNTLINK_REDIS_URL">;

const defaultPorts: Readonly<Record<string, string>> = { "redis:": "6379", "rediss:": "6379" };

/** The addresses of the stores, as errors name them. An operator has to see them, and they are not clients. */
const endpointsOf = (urls: Partial<Urls>): ReadonlyArray<string> =>
  Object.values(urls).flatMap((redacted) => {
    if (redacted === null) return [];
    const { hostname, port, protocol } = new URL(Redacted.value(redacted));
    return [`${hostname.replace(/^\[|\]$/g, "")}:${port || (defaultPorts[protocol] ?? "5432")}`];
  });

const levels: Record<Config["ACCOUNTLINK_LOG_LEVEL"], LogLevel.LogLevel> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
};

/** Logs messages of the level and above, including the warnings of Node and of libraries. */
export const loggingLayer = ({
  ACCOUNTLINK_LOG_LEVEL: level,
  ACCOUNTLINK_DATABASE_URL = null,
  ACCOUNTLINK_REDIS_URL = null,
}: Pick<Config, "ACCOUNTLINK_LOG_LEVEL"> & Partial<Urls>): Layer.Layer<never> => {
  const endpoints = endpointsOf({ ACCOUNTLINK_DATABASE_URL, ACCOUNTLINK_REDIS_URL });
  const logger = deduplicatedLogger((line) => printable(redact(Formatter.formatJson(line), endpoints)));
  return Layer.provideMerge(
    captureWarnings,
    Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, levels[level])),
  );
};
