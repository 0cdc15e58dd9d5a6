/** The first syntax error of a JSON text, for adapters. */
export { type JsonFault, jsonFaultIn } from '../shared/json-scan.js';
