/** JSON texts as adapters read them: where one stops being JSON. */
export { type JsonFault, jsonFaultIn } from '../shared/json-scan.js';
