/** An HAProxy for tests. */
import { makeBalancer } from "./internal/balancer.ts";

const haproxy = makeBalancer({
  name: "HAProxy",
  names: ["haproxy"],
  path: "usr/sbin/haproxy",
  packages: ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"],
  argumentsFor: (config) => ["-db", "-f", config],
});

/**
 * Why no HAProxy can be started here, or null when one can: for the title of a skip.
 *
 * @throws Error in place of a reason when CI=true, where nothing is skipped
 */
export const whyNoHaproxy = haproxy.whyNone;

/**
 * Starts an HAProxy that listens on a free port, and gives the port. It is gone with the scope, or with this process.
 *
 * @param configFor the configuration with which it listens on a port of 127.0.0.1
 */
export const startHaproxy = haproxy.start;
