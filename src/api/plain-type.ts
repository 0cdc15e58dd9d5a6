/**
 * The media type by which a client asks for values and errors as the engine gives them, instead of in the forms of the two
 * interfaces: the JSON of the value, or of `{"error": …}`.
 */
export const plainType = 'application/vnd.signalbox.v1+json';
