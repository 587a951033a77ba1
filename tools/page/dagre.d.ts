// The layout library of the page, which comes as one minified file.
declare const dagre: any;
