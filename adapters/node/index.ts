export { type AesCipherSettings, type AesKey, aesCipher } from './aes-cipher.js';
export { randomIds } from './random-ids.js';
export { systemClock } from './system-clock.js';
