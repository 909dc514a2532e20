import { makeBalancer } from "./balancer.ts";

const haproxy = makeBalancer({
  name: "HAProxy",
  names: ["haproxy"],
  path: "usr/sbin/haproxy",
  packages: ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"],
  argumentsFor: (config) => ["-db", "-f", config],
});

/** Returns null if HAProxy is available, else the reason, for titles of skipped tests. With CI=true, throws instead. */
export const whyNoHaproxy = haproxy.whyNone;

/**
 * Starts an HAProxy on a free port, and returns the port. It is stopped when the scope closes or this process ends.
 *
 * @param configFor returns a configuration with which HAProxy listens on the given port of 127.0.0.1
 */
export const startHaproxy = haproxy.start;
