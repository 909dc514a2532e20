export { docs } from "@accountlink/pages/docs";
