// Replaces the table of operations by Swagger UI. Without a script the table stays.
"use strict";

const place = document.getElementById("reference");

SwaggerUIBundle({
  url: place.dataset.description,
  domNode: place,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  validatorUrl: null, // otherwise it shows the description to a public server
});
