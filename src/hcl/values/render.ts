export { jsonText as valueText } from './plain.js';
export { typeText } from './type-text.js';
