/**
 * Real servers for tests: started on a free port in a temporary folder, and gone when the process that started them is,
 * however it ends.
 */
export * from "./certificate.ts";
export * from "./haproxy.ts";
export * from "./http_server.ts";
export * from "./id_token.ts";
export * from "./nginx.ts";
export * from "./postgres.ts";
export * from "./postgres_standby.ts";
export * from "./prometheus.ts";
export * from "./redis.ts";
export * from "./redis_cluster.ts";
export * from "./redis_sentinel.ts";
export * from "./slowhttptest.ts";
export * from "./small_disk.ts";
export * from "./tcp_proxy.ts";
