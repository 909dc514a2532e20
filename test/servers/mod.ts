/**
 * Real servers for tests, on free ports and in temporary folders. They end with the process that started them, even if
 * that process is killed.
 */

export * from "./balancers.ts";
export * from "./certificate.ts";
export * from "./compile_cache.ts";
export * from "./discord_gateway.ts";
export * from "./free_port.ts";
export * from "./http_server.ts";
export * from "./id_token.ts";
export * from "./is_proof.ts";
export * from "./node_script.ts";
export * from "./platform_specs/answers.ts";
export { missingDocuments, type Platform } from "./platform_specs/documents.ts";
export { operationOf, requestMistakes, startPlatformServer } from "./platform_specs/requests.ts";
export * from "./postgres/postgres.ts";
export * from "./postgres/postgres_standby.ts";
export * from "./promtool.ts";
export * from "./python.ts";
export * from "./random_runs.ts";
export * from "./redis/ask_redis.ts";
export * from "./redis/redis.ts";
export * from "./redis/redis_cluster.ts";
export * from "./redis/redis_sentinel.ts";
export * from "./resolvers.ts";
export * from "./run_until.ts";
export * from "./small_disk.ts";
export * from "./system_user.ts";
export * from "./tcp_proxy.ts";
