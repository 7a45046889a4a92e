/** A text that is not in its format, such as a note without a signature, or a proof with half a hash. */
export class MalformedProof extends Error {}

/** A well-formed proof or signature that does not prove its claim. */
export class FailedProof extends Error {}

/** A note that none of the known keys signed. */
export class UnknownSigner extends FailedProof {}
