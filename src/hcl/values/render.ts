export { jsonText as valueText } from './json-text.js';
export { typeText } from './type-text.js';
